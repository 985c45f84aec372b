// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that read sections at run time, and what they require beyond the specification: one table,
// which sframe-gen writes by (--for) and sframe-verify checks by (--profile). docs/consumers.md has what each
// reader does, and how it was measured.

#pragma once

#include "sframe/builder.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::consumers {

struct Consumer {
  std::string_view option;   ///< of the programs: "glibc"
  std::string_view name;     ///< in messages
  VersionNumber version;     ///< to write
  std::uint8_t versions;     ///< bit n: version n is read
  std::uint8_t flags;        ///< that must be set
  std::uint8_t known_flags;  ///< others make the reader refuse the section
  bool refuses_auxiliary;    ///< sections with an auxiliary header
  bool refuses_empty;        ///< sections without functions or rows
  bool requires_order;       ///< header, functions, rows in this order
  bool refuses_gaps;         ///< between them; where it does not look for them, wrong bytes are read
  bool by_program_header;    ///< finds the section by PT_GNU_SFRAME
  bool requires_mapping;     ///< the section, and the starts of functions, inside one mapping each
  bool refuses_equal_starts; ///< of two functions
  bool uses_flexible;        ///< flexible FDEs
  bool accepts_lone_word;    ///< a data word after those of a flexible row
  bool assumes_fixed_ra;     ///< the ABI's fixed offset of RA, whatever the header has
  bool exact_lookup;         ///< looks up return addresses as they are, without subtracting 1
  UsableRows rows;
};

/// All, the specification first. Static.
std::span<const Consumer> consumers();

/// The options of all.
std::vector<std::string> consumer_names();

/// The same, with "|" between them, as in --help.
std::string consumer_list();

/// The one with this option, or nullptr. Static.
const Consumer* find_consumer(std::string_view option);

} // namespace sframe::consumers
