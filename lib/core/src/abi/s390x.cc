// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x: DWARF register numbers (z/Architecture ELF ABI supplement: r0-r15 are 0-15, access registers 48-63,
// the PSW's mask 64 and address 65) and the kernel's s390_regs (Linux arch/s390/include/uapi/asm/ptrace.h):
// PSW mask, PSW address, 16 general registers (8 bytes each), 16 access registers (4 bytes each), orig_gpr2.
// Leaf functions save general registers in floating-point registers, whose DWARF numbers do not follow their
// own: 16-31 are f0, f2, f4, f6, f1, f3, f5, f7, f8, f10, f12, f14, f9, f11, f13, f15. The kernel's
// s390_fp_regs: control word and padding (4 bytes each), f0 to f15 (8 bytes each).

#include "register_layout.h"

#include <array>

namespace sframe::core::abi {

namespace {

constexpr auto registers = [] {
  std::array<RegisterSlot, 34> slots{};
  for (std::uint16_t i = 0; i < 16; ++i) {
    slots[i] = {static_cast<std::uint16_t>(16 + i * 8), i, 8};
    slots[16 + i] = {static_cast<std::uint16_t>(144 + i * 4), static_cast<std::uint16_t>(48 + i), 4};
  }
  slots[32] = {0, 64, 8};
  slots[33] = {8, 65, 8};
  return slots;
}();

constexpr auto fp_registers = [] {
  constexpr std::uint8_t order[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
  std::array<RegisterSlot, 16> slots{};
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i] = {static_cast<std::uint16_t>(8 + order[i] * 8), static_cast<std::uint16_t>(16 + i), 8};
  return slots;
}();

// Linux arch/s390/include/uapi/asm/perf_regs.h: r0 to r15, f0 to f15, the PSW's mask, its address.
constexpr auto sampled = [] {
  std::array<std::uint8_t, 34> numbers{};
  for (std::uint8_t i = 0; i < 16; ++i) {
    numbers[i] = i;
    numbers[16 + (fp_registers[i].offset - 8) / 8] = static_cast<std::uint8_t>(16 + i);
  }
  numbers[32] = 64;
  numbers[33] = 65;
  return numbers;
}();

} // namespace

const RegisterLayout s390x = {.machine = 22,
                              .registers = registers,
                              .pc_offset = 8,
                              .size = 216,
                              .fp_registers = fp_registers,
                              .sampled = sampled,
                              .sampled_pc = 33};

} // namespace sframe::core::abi
