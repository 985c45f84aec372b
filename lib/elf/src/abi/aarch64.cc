// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64: relocation types (ELF for the Arm 64-bit Architecture, section 5.7.4 and 5.7.5), DWARF register
// numbers (DWARF for the Arm 64-bit Architecture, table 1: X0-X30 are 0-30, SP is 31, PC is 32) and the
// kernel's user_pt_regs (Linux arch/arm64/include/uapi/asm/ptrace.h): x0 to x30, sp, pc, pstate, 8 bytes
// each.

#include "abi/abis.h"

#include <array>

namespace sframe::elf::abi {

namespace {

constexpr RelocationType relocations[] = {
    {0, {0, false}},   // R_AARCH64_NONE
    {256, {0, false}}, // same, under its former number
    {257, {8, false}}, // R_AARCH64_ABS64
    {258, {4, false}}, // R_AARCH64_ABS32
    {259, {2, false}}, // R_AARCH64_ABS16
    {260, {8, true}},  // R_AARCH64_PREL64
    {261, {4, true}},  // R_AARCH64_PREL32
    {262, {2, true}},  // R_AARCH64_PREL16
    {314, {4, true}},  // R_AARCH64_PLT32: without a PLT, the function itself
};

constexpr auto registers = [] {
  std::array<RegisterSlot, 33> slots{};
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i] = {static_cast<std::uint16_t>(i * 8), static_cast<std::uint16_t>(i)};
  return slots;
}();

constexpr MachineTraits machine = {183, 1027, relocations, registers, 256, 272, 0x10000};

} // namespace

const MachineTraits aarch64_little = machine;
const MachineTraits aarch64_big = machine;

} // namespace sframe::elf::abi
