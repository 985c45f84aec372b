// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits: the kernel's user_regs_struct (Linux arch/riscv/include/uapi/asm/ptrace.h): pc, x1 to
// x31, 8 bytes each.

#include "register_layout.h"

#include <array>

namespace sframe::core::abi {

namespace {

constexpr auto registers = [] {
  std::array<RegisterSlot, 31> slots{};
  for (std::uint16_t i = 0; i < slots.size(); ++i)
    slots[i] = {static_cast<std::uint16_t>((i + 1) * 8), static_cast<std::uint16_t>(i + 1)};
  return slots;
}();

} // namespace

const RegisterLayout riscv64 = {.machine = 243, .registers = registers, .pc_offset = 0, .size = 256};

} // namespace sframe::core::abi
