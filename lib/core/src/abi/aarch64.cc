// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64: DWARF register numbers (DWARF for the Arm 64-bit Architecture, table 1: X0-X30 are 0-30, SP is 31,
// PC is 32) and the kernel's user_pt_regs (Linux arch/arm64/include/uapi/asm/ptrace.h): x0 to x30, sp, pc,
// pstate, 8 bytes each.
//
// Scalable vectors (Linux Documentation/arch/arm64/sve.rst, struct user_sve_header of ptrace.h): size,
// max_size (4 bytes each), vl, max_vl, flags, reserved (2 bytes each). vl is the length in bytes, a multiple
// of 16 (SVE_VQ_BYTES) up to 8192 (SVE_VL_MAX); flag 1 (SVE_PT_REGS_SVE) says that the registers follow. In
// streaming mode they do in NT_ARM_SSVE; otherwise its vl is that which the mode would have. VG, 46, is vl/8.
//
// Minidumps have ARM64_NT_CONTEXT of winnt.h (breakpad: MDRawContextARM64), or breakpad's former layout
// (MDRawContextARM64_Old), in which one flag stands for all general registers. Both have x0 to x30, sp and pc
// after 8 bytes.

#include "register_layout.h"

#include <array>

namespace sframe::core::abi {

namespace {

constexpr auto registers = [] {
  std::array<RegisterSlot, 33> slots{};
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i] = {static_cast<std::uint16_t>(i * 8), static_cast<std::uint16_t>(i)};
  return slots;
}();

constexpr std::uint16_t context_registers = 8, context_sp = context_registers + 31 * 8;

/// `count` registers of a context, from the one with the number `first`.
template <std::size_t count> constexpr auto context_slots(std::size_t first) {
  std::array<RegisterSlot, count> slots{};
  for (std::size_t i = 0; i < count; ++i)
    slots[i] = {static_cast<std::uint16_t>(context_registers + (first + i) * 8),
                static_cast<std::uint16_t>(first + i)};
  return slots;
}

// CONTEXT_CONTROL: x29, x30, sp, pc; CONTEXT_INTEGER: x0 to x28
constexpr auto control = context_slots<4>(29);
constexpr auto integer = context_slots<29>(0);
constexpr auto all_general = context_slots<33>(0);
constexpr ContextGroup groups[] = {{1, control}, {2, integer}};
constexpr ContextGroup former_groups[] = {{2, all_general}};
constexpr ContextLayout contexts[] = {{.machine = 0x400000,
                                       .flags_offset = 0,
                                       .pc_offset = context_sp + 8,
                                       .size = context_sp + 16,
                                       .groups = groups},
                                      {.machine = 0x80000000,
                                       .flags_offset = 0,
                                       .pc_offset = context_sp + 8,
                                       .size = context_sp + 16,
                                       .groups = former_groups}};

// Linux arch/arm64/include/uapi/asm/perf_regs.h: x0 to x30, sp, pc; and vg, as 46.
constexpr auto sampled = [] {
  std::array<std::uint8_t, 47> numbers{};
  numbers.fill(no_register);
  for (std::uint8_t i = 0; i < 32; ++i) numbers[i] = i;
  numbers[46] = 46;
  return numbers;
}();

constexpr RegisterLayout layout = {.machine = 183,
                                   .registers = registers,
                                   .pc_offset = 256,
                                   .size = 272,
                                   .contexts = contexts,
                                   .vectors = ScalableVectors{.granule = 46,
                                                              .length_offset = 8,
                                                              .flags_offset = 12,
                                                              .active = 1,
                                                              .quantum = 16,
                                                              .longest = 8192},
                                   .sampled = sampled,
                                   .sampled_pc = 32};

} // namespace

const RegisterLayout aarch64_little = layout;
const RegisterLayout aarch64_big = layout;

} // namespace sframe::core::abi
