// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adding what can be represented of a function: add_parts().

#include "sframe/builder.h"

namespace sframe {

namespace {

/// Lets the offsets of rows count from an address that is `distance` bytes further on.
void rebase(std::span<FrameRow> rows, std::uint32_t distance) {
  for (FrameRow& row : rows) row.offset -= distance;
}

Fde part_of(const Fde& function, std::uint32_t begin, std::uint32_t end) {
  Fde part = function;
  part.start += begin;
  part.size = end - begin;
  return part;
}

/// True if other rows of the function may be representable.
bool is_of_rows(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::cfa_rule:
  case RefusalReason::ra_rule:
  case RefusalReason::fp_rule:
  case RefusalReason::offset_range:
  case RefusalReason::cfa_alignment:
  case RefusalReason::reader:
  case RefusalReason::outermost: return true;
  default: return false;
  }
}

} // namespace

void Builder::add_parts(const Fde& fde, std::span<FrameRow> rows, const LeftOut& left_out) {
  const auto added = add(fde, rows);
  if (added) return;
  const RefusalReason why = added.error().reason;
  const bool repeats = fde.pc_type == PcType::mask; // its blocks count from its start
  if (!repeats && !rows.empty() && (why == RefusalReason::too_many_rows || why == RefusalReason::mixed_rules))
    return add_in_halves(fde, rows, left_out);
  if (!repeats && !rows.empty() && is_of_rows(why)) return add_around(fde, rows, left_out);
  left_out({fde.start, fde.size}, added.error());
}

void Builder::add_in_halves(const Fde& fde, std::span<FrameRow> rows, const LeftOut& left_out) {
  const std::size_t half = rows.size() / 2;
  if (half == 0)
    return left_out({fde.start, fde.size}, {RefusalReason::mixed_rules, Refusal::none, fde.start});
  const std::uint32_t middle = rows[half].offset;
  add_parts(part_of(fde, 0, middle), rows.first(half), left_out);
  rebase(rows.subspan(half), middle);
  add_parts(part_of(fde, middle, fde.size), rows.subspan(half), left_out);
}

/// Splits around the rows that no function can contain. Each row is checked once, so the cost is linear for
/// any rows.
void Builder::add_around(const Fde& fde, std::span<FrameRow> rows, const LeftOut& left_out) {
  std::size_t run = 0;         // the first row that is neither added nor left out
  std::uint32_t run_begin = 0; // its offset
  const auto add_run = [&](std::size_t end, std::uint32_t end_offset) {
    if (run == end) return;
    const auto part = rows.subspan(run, end - run);
    rebase(part, run_begin);
    add_parts(part_of(fde, run_begin, end_offset), part, left_out);
  };
  bool any_refused = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto why = refusal(rows[i]);
    if (!why) continue;
    any_refused = true;
    const std::uint32_t begin = rows[i].offset, end = i + 1 < rows.size() ? rows[i + 1].offset : fde.size;
    add_run(i, begin);
    left_out({fde.start + begin, end - begin}, {*why, static_cast<std::uint32_t>(i), fde.start});
    run = i + 1;
    run_begin = end;
  }
  // Rows that are representable separately but not together.
  if (!any_refused) return add_in_halves(fde, rows, left_out);
  add_run(rows.size(), fde.size);
}

} // namespace sframe
