// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe_table.h"

#include "host.h"

#include "sframe/convert.h"

#include <algorithm>

namespace sframe::here {

namespace {

std::optional<FrameRow> find_row(const Section& section, const EncodedFde& fde, std::uint64_t pc) {
  if (section.outermost_throughout(fde)) return FrameRow::outermost(0);
  RowCursor cursor = section.rows(fde);
  EncodedRow encoded;
  if (!cursor.seek(fde.row_offset(pc), encoded)) return std::nullopt;
  const auto row = cursor.decode(encoded);
  return row ? std::optional(*row) : std::nullopt;
}

} // namespace

SframeTable::SframeTable(const SectionBytes& bytes) {
  for (Concatenated all(bytes.bytes, bytes.address); !sections_.failed();) {
    const auto section = all.next();
    if (!section || !*section || (*section)->abi().id != host::abi) break;
    sections_.push_back(**section);
  }
  if (sections_.size() == 1 && sections_[0].sorted()) return;
  for (std::uint32_t number = 0; number < sections_.size(); ++number)
    for (std::uint32_t i = 0; i < sections_[number].num_fdes(); ++i)
      if (const auto fde = sections_[number].fde(i); fde && fde->size)
        functions_.push_back({fde->start, number, i});
  std::ranges::sort(functions_);
}

std::size_t SframeTable::functions() const {
  std::size_t count = 0;
  for (const Section& section : sections_) count += section.num_fdes();
  return count;
}

std::optional<SframeTable::Located> SframeTable::locate(std::uint64_t pc) const {
  if (sections_.empty()) return std::nullopt;
  if (functions_.empty()) {
    const auto fde = sections_[0].find_fde(pc);
    return fde && *fde ? std::optional<Located>({&sections_[0], **fde}) : std::nullopt;
  }
  const auto after = std::ranges::upper_bound(functions_, pc, {}, &Function::start);
  if (after == functions_.begin()) return std::nullopt;
  const Function& found = *(after - 1);
  const Section& section = sections_[found.section];
  const auto fde = section.fde(found.number);
  return fde && fde->contains(pc) ? std::optional<Located>({&section, *fde}) : std::nullopt;
}

std::optional<FrameRule> SframeTable::find(std::uint64_t pc, Operations& to) const {
  const auto function = locate(pc);
  if (!function) return std::nullopt;
  const auto encoded = find_row(*function->section, function->fde, pc);
  if (!encoded) return std::nullopt;
  const Header& header = function->section->header();
  return rule_of(resolve_fixed(*encoded, header.fixed_ra_offset, header.fixed_fp_offset),
                 function->fde.signal_frame, to);
}

FrameRule rule_of(const FrameRow& row, bool signal_frame, Operations& to) {
  const AbiTraits& abi = traits(host::abi);
  to[0] = unwind::operation_of(row.cfa, abi.sp);
  to[1] = unwind::operation_of(row.ra, abi.ra);
  to[2] = unwind::operation_of(row.fp, abi.fp);
  const int flags = FrameRule::other_registers_lost | (signal_frame ? FrameRule::signal_frame : 0);
  return FrameRule{std::span(to).first(3), static_cast<std::uint8_t>(flags), {}};
}

std::array<Operation, 2> entry_operations() {
  const AbiTraits& abi = traits(host::abi);
  const FrameRow row = resolve_fixed(abi.entry_row(), abi.fixed_ra_offset, 0);
  // The function has not run: all registers have their values from the call.
  return {unwind::operation_of(row.cfa, abi.sp), unwind::operation_of(row.ra, abi.ra)};
}

} // namespace sframe::here
