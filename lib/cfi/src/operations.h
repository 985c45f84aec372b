// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of DWARF expressions (DWARF 5, sections 2.5.1 and 7.7.1) used in call frame information; after
// the separator, those of location descriptions (sections 2.5.1 and 2.6, and their GNU predecessors).

#pragma once

#include "sframe/cfi/reader.h"

#include <cstdint>
#include <optional>

namespace sframe::cfi {

enum Operation : std::uint8_t {
  op_addr = 0x03,
  op_deref = 0x06,
  op_const1u = 0x08,
  op_const1s = 0x09,
  op_const2u = 0x0a,
  op_const2s = 0x0b,
  op_const4u = 0x0c,
  op_const4s = 0x0d,
  op_const8u = 0x0e,
  op_const8s = 0x0f,
  op_constu = 0x10,
  op_consts = 0x11,
  op_dup = 0x12,
  op_drop = 0x13,
  op_over = 0x14,
  op_pick = 0x15,
  op_swap = 0x16,
  op_rot = 0x17,
  op_abs = 0x19,
  op_and = 0x1a,
  op_div = 0x1b,
  op_minus = 0x1c,
  op_mod = 0x1d,
  op_mul = 0x1e,
  op_neg = 0x1f,
  op_not = 0x20,
  op_or = 0x21,
  op_plus = 0x22,
  op_plus_uconst = 0x23,
  op_shl = 0x24,
  op_shr = 0x25,
  op_shra = 0x26,
  op_xor = 0x27,
  op_bra = 0x28,
  op_eq = 0x29,
  op_ge = 0x2a,
  op_gt = 0x2b,
  op_le = 0x2c,
  op_lt = 0x2d,
  op_ne = 0x2e,
  op_skip = 0x2f,
  op_lit0 = 0x30,
  op_lit31 = 0x4f,
  op_reg0 = 0x50,
  op_reg31 = 0x6f,
  op_breg0 = 0x70,
  op_breg31 = 0x8f,
  op_regx = 0x90,
  op_bregx = 0x92,
  op_deref_size = 0x94,
  op_nop = 0x96,
  op_call_frame_cfa = 0x9c,
  // ---------------------------------------------------------------------
  op_fbreg = 0x91,
  op_piece = 0x93,
  op_bit_piece = 0x9d,
  op_implicit_value = 0x9e,
  op_stack_value = 0x9f,
  op_implicit_pointer = 0xa0,
  op_addrx = 0xa1,
  op_constx = 0xa2,
  op_entry_value = 0xa3,
  op_const_type = 0xa4,
  op_regval_type = 0xa5,
  op_deref_type = 0xa6,
  op_convert = 0xa8,
  op_reinterpret = 0xa9,
  op_gnu_uninit = 0xf0,
  op_gnu_implicit_pointer = 0xf2,
  op_gnu_entry_value = 0xf3,
  op_gnu_const_type = 0xf4,
  op_gnu_regval_type = 0xf5,
  op_gnu_deref_type = 0xf6,
  op_gnu_convert = 0xf7,
  op_gnu_reinterpret = 0xf9,
  op_gnu_parameter_ref = 0xfa,
  op_gnu_addr_index = 0xfb,
  op_gnu_const_index = 0xfc,
};

/// The operand of an operation that pushes a constant, sign-extended to 64 bits; for other operations,
/// returns nothing and reads nothing.
inline std::optional<std::uint64_t> read_constant(DwarfReader& reader, std::uint8_t operation) {
  if (operation >= op_lit0 && operation <= op_lit31) return operation - op_lit0;
  const auto extend = [](auto value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); };
  switch (operation) {
  case op_const1u: return reader.u8();
  case op_const1s: return extend(static_cast<std::int8_t>(reader.u8()));
  case op_const2u: return reader.fixed<std::uint16_t>();
  case op_const2s: return extend(static_cast<std::int16_t>(reader.fixed<std::uint16_t>()));
  case op_const4u: return reader.fixed<std::uint32_t>();
  case op_const4s: return extend(static_cast<std::int32_t>(reader.fixed<std::uint32_t>()));
  case op_const8u:
  case op_const8s: return reader.fixed<std::uint64_t>();
  case op_constu: return reader.uleb();
  case op_consts: return extend(reader.sleb());
  default: return std::nullopt;
  }
}

/// A register with an offset, as in breg operations.
struct BasedOperand {
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
};

/// The operands of a breg operation; for other operations, returns nothing and reads nothing.
inline std::optional<BasedOperand> read_breg(DwarfReader& reader, std::uint8_t operation) {
  BasedOperand operand;
  if (operation >= op_breg0 && operation <= op_breg31)
    operand.reg = operation - op_breg0;
  else if (operation == op_bregx)
    operand.reg = reader.uleb();
  else
    return std::nullopt;
  operand.offset = reader.sleb();
  return operand;
}

} // namespace sframe::cfi
