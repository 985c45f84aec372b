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

/// The division of one function.
struct Builder::Pieces {
  Builder& builder;
  const LeftOut& left_out;
  std::uint64_t start;  ///< of the function
  const FrameRow* rows; ///< all of it

  void add(const Fde& part, std::span<FrameRow> its_rows) {
    if (const auto added = builder.add(part, its_rows); !added) divide(part, its_rows, added.error());
  }
  /// For a part that the builder refused.
  void divide(const Fde& part, std::span<FrameRow> its_rows, const Refusal& refusal) {
    const RefusalReason why = refusal.reason;
    const bool repeats = part.pc_type == PcType::mask; // its blocks count from its start
    if (repeats || its_rows.empty()) return leave_out(part, refusal, its_rows);
    if (why == RefusalReason::too_many_rows || why == RefusalReason::mixed_rules)
      return add_in_halves(part, its_rows);
    if (is_of_rows(why)) return add_around(part, its_rows);
    leave_out(part, refusal, its_rows);
  }
  void add_in_halves(const Fde& part, std::span<FrameRow> its_rows);
  void add_around(const Fde& part, std::span<FrameRow> its_rows);
  void leave_out(const Fde& part, Refusal why, std::span<FrameRow> its_rows) const {
    why.function = start;
    if (why.row != Refusal::none) why.row += static_cast<std::uint32_t>(its_rows.data() - rows);
    left_out({part.start, part.size}, why);
  }
};

void Builder::Pieces::add_in_halves(const Fde& part, std::span<FrameRow> its_rows) {
  const std::size_t half = its_rows.size() / 2;
  if (half == 0) return leave_out(part, {RefusalReason::mixed_rules}, its_rows);
  const std::uint32_t middle = its_rows[half].offset;
  add(part_of(part, 0, middle), its_rows.first(half));
  rebase(its_rows.subspan(half), middle);
  add(part_of(part, middle, part.size), its_rows.subspan(half));
}

/// Splits around the rows that no function can contain. Each row is checked once, so the cost is linear for
/// any rows.
void Builder::Pieces::add_around(const Fde& part, std::span<FrameRow> its_rows) {
  std::size_t run = 0;         // the first row that is neither added nor left out
  std::uint32_t run_begin = 0; // its offset
  const auto add_run = [&](std::size_t end, std::uint32_t end_offset) {
    if (run == end) return;
    const auto run_rows = its_rows.subspan(run, end - run);
    rebase(run_rows, run_begin);
    add(part_of(part, run_begin, end_offset), run_rows);
  };
  bool any_refused = false;
  for (std::size_t i = 0; i < its_rows.size(); ++i) {
    const auto why = builder.refusal(its_rows[i]);
    if (!why) continue;
    any_refused = true;
    // What is before the first row goes with it.
    const std::uint32_t begin = i == 0 ? 0 : its_rows[i].offset,
                        end = i + 1 < its_rows.size() ? its_rows[i + 1].offset : part.size;
    add_run(i, begin);
    leave_out(part_of(part, begin, end), {*why, static_cast<std::uint32_t>(i)}, its_rows);
    run = i + 1;
    run_begin = end;
  }
  // Rows that are representable separately but not together.
  if (!any_refused) return add_in_halves(part, its_rows);
  add_run(its_rows.size(), part.size);
}

void Builder::add_parts(const Fde& fde, std::span<FrameRow> rows, const LeftOut& left_out) {
  if (const auto added = add(fde, rows); !added)
    Pieces{*this, left_out, fde.start, rows.data()}.divide(fde, rows, added.error());
}

} // namespace sframe
