// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language-specific data area of a function (.gcc_except_table), as far as code analysis needs it: which
// calls resume at which landing pad. The format is that of gcc and LLVM for C++, Rust, D, Ada and others
// (Itanium C++ ABI, exception handling tables; gcc's unwind-pe.h for the encodings). Action and type tables
// are ignored.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/expected.h"

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::cfi {

/// Calls in [begin, end) may resume at `landing_pad` with an exception.
struct LandingPad {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t landing_pad = 0;

  friend bool operator==(const LandingPad&, const LandingPad&) = default;
};

/// Appends the call sites that have a landing pad, in the table's order (by address, as compilers write
/// them). `bytes` starts with the data area and may extend past it; `address` is the load address of its
/// first byte; `function_start` is the FDE's start. On an error, earlier call sites stay appended. Linear in
/// the table. Takes section_bytes for the table from the budget, if given; reads nothing if it is used up.
expected<void, Error> read_landing_pads(std::span<const std::byte> bytes, std::uint64_t address,
                                        std::uint64_t function_start, const AbiTraits& abi,
                                        std::vector<LandingPad>& out, Budget* budget = nullptr);

} // namespace sframe::cfi

#pragma GCC visibility pop
