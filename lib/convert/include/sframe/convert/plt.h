// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stubs that a linker made and gave no CFI: the PLTs of ld.lld and mold, and GNU ld's for AArch64 and s390x. Their
// instructions are few and say all (lib/code): most stubs leave the stack alone, so that one row describes them
// all; stubs that push before they jump become a PCMASK function whose rows repeat.

#pragma once

#include "sframe/abi.h"
#include "sframe/fde.h"
#include "sframe/row.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::conversion {

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

} // namespace sframe::conversion
