// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stubs that a linker made and gave no CFI: the PLTs of ld.lld and mold, and GNU ld's for AArch64 and s390x. Their
// instructions are few and say all (lib/code): most stubs leave the stack alone, so that one row describes them
// all; stubs that push before they jump become a PCMASK function whose rows repeat.
//
// Where a linker gave them CFI it can be checked against their instructions: gold's for s390x is wrong.

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

namespace sframe::generate {

/// A function for stubs, ready for Builder::add.
struct PltFunction {
  Fde fde;
  std::vector<FrameRow> rows;
};

/// Functions for the stubs in `bytes`, a PLT section (or a part of one that starts with a stub) at `address`; by
/// address. A stub that only other stubs jump to (PLT0) starts with the row that holds where they jump. Stubs that
/// cannot be understood are left out. Linear.
std::vector<PltFunction> plt_functions(const AbiTraits& abi, std::span<const std::byte> bytes,
                                       std::uint64_t address);

/// A row with the CFA that such an expression has at an address.
cfi::CoreRow plt_row(cfi::CoreRow row, const cfi::PltCfa& plt, std::uint64_t address);

/// The rows that stubs have by their instructions, to be asked by address.
class StubRows {
public:
  /// A stub, a part of one, or several in a row, with one row.
  struct Piece {
    std::uint64_t begin = 0, end = 0;
    const FrameRow* row = nullptr; ///< without Rule::fixed; its `offset` counts from the stub's start
    std::uint64_t stub_end = 0;
  };

  /// Adds a PLT section. `bytes` must outlive the object.
  void add(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address);

  /// Calls `visitor` for each piece, by address, that has bytes in [begin, end) and does not start with a filling of
  /// zeros, until it returns false; pieces are not cut. False if it did.
  bool visit(std::uint64_t begin, std::uint64_t end, const std::function<bool(const Piece&)>& visitor) const;
  /// True if the row of every address in [begin, end) is known, and is this one, which has no Rule::fixed.
  bool prove(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const;
  /// True if the row of an address in [begin, end) is known, and is another one.
  bool refute(const FrameRow& row, std::uint64_t begin, std::uint64_t end) const;
  /// True if they refute a row of the CFI in [begin, end).
  bool refute(const cfi::Section& section, const cfi::Fde& fde, std::uint64_t begin, std::uint64_t end) const;

private:
  struct Stubs {
    PltFunction function;
    bool starts_with_filling = false;
  };
  std::vector<Stubs> stubs_; ///< by address
};

} // namespace sframe::generate
