// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: which rule of a row is that of a register in Registers.

#pragma once

#include "sframe/cfi/vector_granule.h"
#include "sframe/unwind/registers.h"

#include <cstdint>

namespace sframe::unwind {

/// The DWARF number of the register at `place`: the same, but for VG.
inline std::uint32_t column_of(std::uint32_t place, const AbiTraits& abi) {
  return place == Registers::vector_granule ? cfi::vector_granule(abi).value_or(Registers::vector_granule)
                                            : place;
}

} // namespace sframe::unwind
