// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits: relocation types (RISC-V ELF psABI, "Relocations").

#include "sframe/elf/machine.h"

namespace sframe::elf::abi {

namespace {

constexpr RelocationType relocations[] = {
    {0, {0, false}}, // R_RISCV_NONE
    {1, {4, false}}, // R_RISCV_32
    {2, {8, false}}, // R_RISCV_64
    {57, {4, true}}, // R_RISCV_32_PCREL
};

} // namespace

const MachineTraits riscv64 = {243, 3, relocations};

} // namespace sframe::elf::abi
