// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linker-generated stubs without CFI: the PLTs of ld.lld and mold, and GNU ld's for AArch64 and s390x. Their
// few instructions determine the rows (lib/code). Most stubs leave the stack unchanged, so that one row
// describes them all; stubs that push before they jump become a PCMASK function with repeating rows.
//
// If a linker wrote CFI for them, it can be checked against their instructions: gold's for s390x is wrong.

#pragma once

#include "sframe/abi.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/fde.h"
#include "sframe/row.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sframe {
class Budget;
}

namespace sframe::generate {

/// A function for stubs, ready for Builder::add.
struct PltFunction {
  Fde fde;
  std::vector<FrameRow> rows;
};

/// Functions for the stubs in `bytes`, a PLT section (or a part of one that starts with a stub) at `address`;
/// sorted by address. A stub that only other stubs jump to (PLT0) starts with the row at their jumps. Stubs
/// that cannot be analysed are left out. Linear. Takes code_steps from the budget, if given; stubs that it
/// does not suffice for cannot be analysed.
std::vector<PltFunction> plt_functions(const AbiTraits& abi, std::span<const std::byte> bytes,
                                       std::uint64_t address, Budget* budget = nullptr);

/// `row` with the CFA that the expression `plt` has at `address`.
cfi::MinimalRow plt_row(cfi::MinimalRow row, const cfi::PltCfa& plt, std::uint64_t address);

/// The rows of stubs, derived from their instructions, by address.
class StubRows {
public:
  /// A stub, a part of one, or several adjacent ones, with one row.
  struct Piece {
    std::uint64_t begin = 0, end = 0;
    const FrameRow* row = nullptr; ///< without Rule::fixed; its `offset` is relative to the stub's start
    std::uint64_t stub_end = 0;
  };

  /// Adds a PLT section. `bytes` must outlive the object. Linear if sections are added by address.
  void add(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address,
           Budget* budget = nullptr);

  /// Calls `visitor` for each piece, by address, that overlaps [begin, end) and does not start with zero
  /// padding, until it returns false; pieces are not cut. Returns false if `visitor` did.
  bool visit(std::uint64_t begin, std::uint64_t end, const std::function<bool(const Piece&)>& visitor) const;
  /// True if the row of every address in [begin, end) is known and equals `row`, which has no Rule::fixed.
  bool prove(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const;
  /// True if the row of an address in [begin, end) is known and differs from `row`.
  bool refute(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const;
  /// True if the stubs refute a row of the CFI in [begin, end).
  bool refute(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t begin,
              std::uint64_t end) const;

private:
  struct Stubs {
    PltFunction function;
    bool starts_with_filling = false;
  };
  std::vector<Stubs> stubs_; ///< by address
};

} // namespace sframe::generate
