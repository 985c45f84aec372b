// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64: relocation types (ELF for the Arm 64-bit Architecture, section 5.7.4 and 5.7.5), DWARF register
// numbers (DWARF for the Arm 64-bit Architecture, table 1: X0-X30 are 0-30, SP is 31, PC is 32) and the
// kernel's user_pt_regs (Linux arch/arm64/include/uapi/asm/ptrace.h): x0 to x30, sp, pc, pstate, 8 bytes
// each.
//
// Minidumps have ARM64_NT_CONTEXT of winnt.h (breakpad: MDRawContextARM64), or breakpad's former layout
// (MDRawContextARM64_Old), in which one flag stands for all general registers. Both have x0 to x30, sp and pc
// after 8 bytes.

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

using enum RelocatedField::Of;

/// 16 bits of an address, for MOVZ and MOVK.
constexpr RelocatedField part(std::uint32_t type, std::uint8_t shift) {
  return {.type = type, .size = 4, .shift = shift, .lsb = 5, .width = 16};
}

/// A distance in instructions.
constexpr RelocatedField branch(std::uint32_t type, std::uint8_t lsb, std::uint8_t width) {
  return {.type = type,
          .size = 4,
          .base = RelocatedField::Base::place,
          .shift = 2,
          .lsb = lsb,
          .width = width,
          .checked = true};
}

/// A distance in pages, for ADRP.
constexpr RelocatedField pages(std::uint32_t type, RelocatedField::Of of, bool checked) {
  return {.type = type,
          .size = 4,
          .of = of,
          .base = RelocatedField::Base::page,
          .shift = 12,
          .lsb = 5,
          .width = 21,
          .checked = checked,
          .low_bits_at = 29};
}

/// The place in a page, in units of what is loaded.
constexpr RelocatedField in_page(std::uint32_t type, RelocatedField::Of of, std::uint8_t shift) {
  return {.type = type,
          .size = 4,
          .of = of,
          .shift = shift,
          .lsb = 10,
          .width = static_cast<std::uint8_t>(12 - shift)};
}

/// In instructions (section 5.7.6 and following). What thread-local ones add leads to no code.
constexpr RelocatedField code_relocations[] = {
    part(263, 0),       // MOVW_UABS_G0
    part(264, 0),       // MOVW_UABS_G0_NC
    part(265, 16),      // MOVW_UABS_G1
    part(266, 16),      // MOVW_UABS_G1_NC
    part(267, 32),      // MOVW_UABS_G2
    part(268, 32),      // MOVW_UABS_G2_NC
    part(269, 48),      // MOVW_UABS_G3
    branch(273, 5, 19), // LD_PREL_LO19
    {.type = 274,       // ADR_PREL_LO21
     .size = 4,
     .base = RelocatedField::Base::place,
     .lsb = 5,
     .width = 21,
     .checked = true,
     .low_bits_at = 29},
    pages(275, symbol, true),  // ADR_PREL_PG_HI21
    pages(276, symbol, false), // ADR_PREL_PG_HI21_NC
    in_page(277, symbol, 0),   // ADD_ABS_LO12_NC
    in_page(278, symbol, 0),   // LDST8_ABS_LO12_NC
    branch(279, 5, 14),        // TSTBR14
    branch(280, 5, 19),        // CONDBR19
    branch(282, 0, 26),        // JUMP26
    branch(283, 0, 26),        // CALL26
    in_page(284, symbol, 1),   // LDST16_ABS_LO12_NC
    in_page(285, symbol, 2),   // LDST32_ABS_LO12_NC
    in_page(286, symbol, 3),   // LDST64_ABS_LO12_NC
    in_page(299, symbol, 4),   // LDST128_ABS_LO12_NC
    pages(311, slot, true),    // ADR_GOT_PAGE
    in_page(312, slot, 3),     // LD64_GOT_LO12_NC
    {.type = 313},             // LD64_GOTPAGE_LO15
    pages(513, slot, true),    // TLSGD_ADR_PAGE21
    {.type = 514},             // TLSGD_ADD_LO12_NC
    pages(541, slot, true),    // TLSIE_ADR_GOTTPREL_PAGE21
    {.type = 542},             // TLSIE_LD64_GOTTPREL_LO12_NC
    {.type = 549},             // TLSLE_ADD_TPREL_HI12
    {.type = 550},             // TLSLE_ADD_TPREL_LO12
    {.type = 551},             // TLSLE_ADD_TPREL_LO12_NC
    pages(562, slot, true),    // TLSDESC_ADR_PAGE21
    {.type = 563},             // TLSDESC_LD64_LO12
    {.type = 564},             // TLSDESC_ADD_LO12
    {.type = 569},             // TLSDESC_CALL
};

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

constexpr MachineTraits machine = {.id = 183,
                                   .relative = 1027,
                                   .relocations = relocations,
                                   .registers = registers,
                                   .pc_offset = 256,
                                   .registers_size = 272,
                                   .largest_page = 0x10000,
                                   .code_relocations = code_relocations,
                                   .contexts = contexts};

} // namespace

const MachineTraits aarch64_little = machine;
const MachineTraits aarch64_big = machine;

} // namespace sframe::elf::abi
