// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that read sections at run time, and what they require beyond the specification: one table,
// which sframe-gen writes by (--for) and sframe-verify checks by (--profile). docs/readers.md has what each
// reader does, and how it was measured.

#pragma once

#include "sframe/builder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::readers {

/// What a reader does with functions that have the same start, all but one of them empty.
enum class EqualStarts : std::uint8_t {
  found,   ///< finds the one that is not empty
  refused, ///< refuses the section
  missed,  ///< finds an empty one first, depending on their places in the index, and gives up
};

struct Reader {
  std::string_view option;  ///< of the programs: "glibc"
  std::string_view name;    ///< in messages
  VersionNumber version;    ///< to write
  std::uint8_t versions;    ///< bit n: version n is read
  std::uint8_t flags;       ///< that must be set
  std::uint8_t known_flags; ///< others make the reader refuse the section
  bool refuses_auxiliary;   ///< sections with an auxiliary header
  bool refuses_empty;       ///< sections without functions or rows
  bool requires_order;      ///< header, functions, rows in this order
  bool refuses_gaps;        ///< between them; where it does not look for them, wrong bytes are read
  bool by_program_header;   ///< finds the section by PT_GNU_SFRAME
  bool requires_mapping;    ///< the section, and the starts of functions, inside one mapping each
  EqualStarts equal_starts;
  bool accepts_lone_word; ///< a data word after those of a flexible row
  bool accepts_zero_ra;   ///< an RA word of 0: not saved
  bool accepts_zero_fp;   ///< an FP word of 0: at the CFA
  bool exact_lookup;      ///< looks up return addresses as they are, without subtracting 1
  UsableRows rows;
  std::span<const Abi> abis = {}; ///< on which it reads SFrame; empty: all

  bool runs_on(Abi abi) const { return abis.empty() || std::ranges::count(abis, abi) != 0; }
};

/// All, the specification first. Static.
std::span<const Reader> all_readers();

/// The options of all.
std::vector<std::string> reader_names();

/// The one with this option, or nullptr. Static.
const Reader* find_reader(std::string_view option);

} // namespace sframe::readers
