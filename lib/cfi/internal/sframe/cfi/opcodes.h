// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call frame instructions (DWARF 5, section 7.24); GNU and AArch64 additions after the separator.

#pragma once

#include <cstdint>

namespace sframe::cfi {

enum Opcode : std::uint8_t {
  // Opcode in the two high bits; the low six are an operand.
  cfa_advance_loc = 0x40,
  cfa_offset = 0x80,
  cfa_restore = 0xc0,

  cfa_nop = 0x00,
  cfa_set_loc = 0x01,
  cfa_advance_loc1 = 0x02,
  cfa_advance_loc2 = 0x03,
  cfa_advance_loc4 = 0x04,
  cfa_offset_extended = 0x05,
  cfa_restore_extended = 0x06,
  cfa_undefined = 0x07,
  cfa_same_value = 0x08,
  cfa_register = 0x09,
  cfa_remember_state = 0x0a,
  cfa_restore_state = 0x0b,
  cfa_def_cfa = 0x0c,
  cfa_def_cfa_register = 0x0d,
  cfa_def_cfa_offset = 0x0e,
  cfa_def_cfa_expression = 0x0f,
  cfa_expression = 0x10,
  cfa_offset_extended_sf = 0x11,
  cfa_def_cfa_sf = 0x12,
  cfa_def_cfa_offset_sf = 0x13,
  cfa_val_offset = 0x14,
  cfa_val_offset_sf = 0x15,
  cfa_val_expression = 0x16,
  // ---------------------------------------------------------------------
  cfa_aarch64_negate_ra_state_with_pc = 0x2c,
  cfa_window_save = 0x2d, ///< SPARC; on AArch64: negate_ra_state
  cfa_gnu_args_size = 0x2e,
  cfa_gnu_negative_offset_extended = 0x2f,
};

} // namespace sframe::cfi
