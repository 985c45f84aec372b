// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the repairs of a function as places, each with the pattern of what went wrong.

#pragma once

#include "sframe/generate/from_cfi.h"
#include "sframe/verify/compiler_bugs.h"

#include <cstdint>
#include <vector>

namespace sframe::verify {

struct BugPlace {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t bytes = 0;         ///< of its instructions
  BugPattern pattern;              ///< its mnemonic is empty: the instruction is
  std::uint64_t culprit = 0;       ///< address of the instruction that the pattern names
  std::uint8_t culprit_length = 0; ///< 0: none
};

/// The places of an FDE, by address. Linear in the function's code.
std::vector<BugPlace> bug_places(const generate::RepairedFde& fde, const AbiTraits& abi);

/// A place as an example shows it: the lines, and how many are left out.
void show_place(const generate::RepairedFde& fde, const BugPlace& place, const elf::Image& image,
                BugExample& example);

} // namespace sframe::verify
