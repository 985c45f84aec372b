// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The units of analysis: the code of one function. SFrame may describe a function in pieces (it omits what it
// cannot represent), so the function's bounds come from the CFI if there is some, else from SFrame.

#pragma once

#include "sframe/verify/input.h"

#include <optional>
#include <span>
#include <vector>

namespace sframe::verify {

struct CodeUnit {
  std::uint64_t begin = 0, end = 0;
  std::span<const OwnedRange> sframe; ///< pieces of SFrame functions in the unit, by address; not empty
  std::optional<OwnedRange> cfi;      ///< the FDE that provided the bounds
};

/// Units by address, disjoint. `sframe` and `cfi` are disjoint and by address, and must outlive the result. A
/// piece that extends past the FDE in which it starts is a separate unit. Linear.
std::vector<CodeUnit> code_units(std::span<const OwnedRange> sframe, std::span<const OwnedRange> cfi);

} // namespace sframe::verify
