// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VG, the pseudo-register by which call frame information counts in units whose size the processor decides:
// the number of 64-bit granules in a scalable vector register of AArch64 (DWARF for the Arm 64-bit
// Architecture, section 4.1). A frame with such vectors has it in expressions. Here is the CFA of one with 16
// bytes and two vectors, as gcc writes it; of 128 bits each, VG is 2:
//
//   8f 10      DW_OP_breg31 16      sp+16
//   92 2e 00   DW_OP_bregx 46, 0    sp+16  VG
//   40         DW_OP_lit16          sp+16  VG  16
//   1e 22      DW_OP_mul, plus      sp+16+16*VG
//
// No SFrame row can name it.

#pragma once

#include "sframe/abi.h"

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::cfi {

/// The DWARF number of VG; nothing on a machine without scalable vectors. Constant cost.
constexpr std::optional<std::uint16_t> vector_granule(const AbiTraits& abi) {
  constexpr std::uint16_t em_aarch64 = 183;
  return abi.machine == em_aarch64 ? std::optional<std::uint16_t>(46) : std::nullopt;
}

} // namespace sframe::cfi

#pragma GCC visibility pop
