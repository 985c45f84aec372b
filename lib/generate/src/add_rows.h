// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sources of rows other than CFI do in the same way.

#pragma once

#include "sframe/generate/from_cfi.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace sframe::generate {

/// Appends the row of the next addresses, from `offset` on in its FDE, unless it repeats the one before and
/// the options say to merge such rows.
inline void append_row(const Options& options, std::vector<FrameRow>& rows, FrameRow row,
                       std::uint64_t offset) {
  row.offset = static_cast<std::uint32_t>(offset);
  if (!options.merge_rows || rows.empty() || !rows.back().same_rules(row)) rows.push_back(row);
}

/// Adds an FDE and its rows, whose offsets are changed, to the builder. The addresses whose rows it refuses
/// are reported through `leave_out(AddressRange, Reason)`; the others are appended to `covered`. Returns
/// their number.
template <class LeaveOut>
std::uint64_t add_rows(Conversion& out, const Fde& fde, std::span<FrameRow> rows,
                       std::vector<AddressRange>& covered, const LeaveOut& leave_out) {
  AddressSet refused;
  out.builder.add_parts(fde, rows, [&](AddressRange range, const Refusal& why) {
    leave_out(range, reason(why.reason));
    refused.add(range);
  });
  std::ranges::move(refused.outside({fde.start, fde.size}), std::back_inserter(covered));
  return fde.size - refused.size();
}

} // namespace sframe::generate
