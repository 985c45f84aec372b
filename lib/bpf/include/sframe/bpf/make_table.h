// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the table of table.h from the sections of a linked file.

#pragma once

#include "sframe/address.h"
#include "sframe/base/problem.h"
#include "sframe/section.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::bpf {

struct MadeTable {
  std::vector<std::byte> bytes;
  std::uint64_t rows = 0;        ///< as counted by the table's header
  std::uint64_t rules = 0;       ///< distinct ones, with that of addresses without rows
  std::uint64_t escapes = 0;     ///< rows whose rule has a number of more than a byte
  std::uint64_t wide_rules = 0;  ///< rules that do not fit a word
  std::uint64_t merged_gaps = 0; ///< padding that the row before it applies to
  /// Addresses whose rows have no room in their block, and that have none therefore. Not in real programs.
  std::uint64_t lost_addresses = 0;
};

/// True if all bytes of the range are padding between functions.
using IsPadding = std::function<bool(AddressRange range)>;

/// Bytes of the longest gap that `is_padding` is asked about.
inline constexpr std::uint32_t max_padding = 64;

/// The table of all rows of the sections, which are those of one file and of one ABI. If functions overlap,
/// the one that starts later ends the earlier one. Blocks of PCMASK functions are written out.
///
/// `is_padding` is asked about gaps of at most 64 bytes between rows. Where it holds, the row before applies
/// to the gap, too: such rows would be a seventh of all. It may be empty: then all gaps have no rows.
///
/// `build_id` has at most 64 bytes, and may be empty. Fails with the first error in a section, and if the
/// code spans more than 4 GiB. Needs 12 bytes of memory per row, and 100 per distinct rule, besides the
/// table.
Result<MadeTable> make_table(std::span<const Section> sections, std::span<const std::byte> build_id,
                             const IsPadding& is_padding);

} // namespace sframe::bpf

#pragma GCC visibility pop
