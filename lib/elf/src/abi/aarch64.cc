// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64: relocation types (ELF for the Arm 64-bit Architecture, section 5.7.4 and 5.7.5).

#include "sframe/elf/machine.h"

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

constexpr MachineTraits machine = {
    .id = 183,
    .relative = 1027,
    .relocations = relocations,
    .largest_page = 0x10000,
    .code_relocations = code_relocations,
    .go = {.are_known = true, .save_fp = true, .injected_size = 16, .kept_below_sp = 8}};

} // namespace

const MachineTraits aarch64_little = machine;
const MachineTraits aarch64_big = machine;

} // namespace sframe::elf::abi
