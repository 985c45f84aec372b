// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is analysed together: the code of one function. SFrame may describe a function in pieces (what it
// cannot say is left out), so that the function's bounds come from the CFI where there is some, else from
// SFrame.

#pragma once

#include "sframe/verify/input.h"

#include <optional>
#include <span>
#include <vector>

namespace sframe::verify {

struct CodeUnit {
  std::uint64_t begin = 0, end = 0;
  std::span<const Range> sframe; ///< pieces of SFrame functions in it, by address; not empty
  std::optional<Range> cfi;      ///< the FDE that gave the bounds
};

/// Units by address, disjoint. `sframe` and `cfi` are disjoint and by address, and must outlive the result. A
/// piece that reaches beyond the FDE in which it starts is a unit of its own. Linear.
std::vector<CodeUnit> code_units(std::span<const Range> sframe, std::span<const Range> cfi);

} // namespace sframe::verify
