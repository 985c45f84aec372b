// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits: relocation types (RISC-V ELF psABI, "Relocations"), and the kernel's user_regs_struct
// (Linux arch/riscv/include/uapi/asm/ptrace.h): pc, x1 to x31, 8 bytes each.

#include "abi/abis.h"

#include <array>

namespace sframe::elf::abi {

namespace {

constexpr RelocationType relocations[] = {
    {0, {0, false}}, // R_RISCV_NONE
    {1, {4, false}}, // R_RISCV_32
    {2, {8, false}}, // R_RISCV_64
    {57, {4, true}}, // R_RISCV_32_PCREL
};

constexpr auto registers = [] {
  std::array<RegisterSlot, 31> slots{};
  for (std::uint16_t i = 0; i < slots.size(); ++i)
    slots[i] = {static_cast<std::uint16_t>((i + 1) * 8), static_cast<std::uint16_t>(i + 1)};
  return slots;
}();

} // namespace

const MachineTraits riscv64 = {243, 3, relocations, registers, 0, 256};

} // namespace sframe::elf::abi
