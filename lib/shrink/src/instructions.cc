// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "instructions.h"

#include "sframe/cfi/rows.h"

namespace sframe::shrink {

using namespace cfi;

namespace {

std::span<const std::byte> read_block(DwarfReader& reader, std::span<const std::byte> bytes) {
  const std::uint64_t size = reader.uleb();
  const std::uint64_t at = reader.at();
  reader.skip(size);
  return reader.failed() ? std::span<const std::byte>{}
                         : bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

/// The operands of an opcode without one in its low bits. False if it is unknown.
bool read_operands(DwarfReader& reader, std::span<const std::byte> bytes, Instruction& out) {
  switch (out.opcode) {
  case cfa_nop:
  case cfa_remember_state:
  case cfa_restore_state:
  case cfa_window_save:
  case cfa_aarch64_negate_ra_state_with_pc: return true;
  case cfa_advance_loc1: out.number = reader.number(1); return true;
  case cfa_advance_loc2: out.number = reader.number(2); return true;
  case cfa_advance_loc4: out.number = reader.number(4); return true;
  case cfa_offset_extended:
  case cfa_register:
  case cfa_def_cfa:
  case cfa_val_offset:
  case cfa_gnu_negative_offset_extended:
    out.reg = reader.uleb();
    out.number = reader.uleb();
    return true;
  case cfa_restore_extended:
  case cfa_undefined:
  case cfa_same_value:
  case cfa_def_cfa_register: out.reg = reader.uleb(); return true;
  case cfa_def_cfa_offset:
  case cfa_gnu_args_size: out.number = reader.uleb(); return true;
  case cfa_def_cfa_offset_sf: out.offset = reader.sleb(); return true;
  case cfa_offset_extended_sf:
  case cfa_def_cfa_sf:
  case cfa_val_offset_sf:
    out.reg = reader.uleb();
    out.offset = reader.sleb();
    return true;
  case cfa_def_cfa_expression: out.expression = read_block(reader, bytes); return true;
  case cfa_expression:
  case cfa_val_expression:
    out.reg = reader.uleb();
    out.expression = read_block(reader, bytes);
    return true;
  default: return false;
  }
}

} // namespace

std::optional<Instruction> read_instruction(DwarfReader& reader, std::span<const std::byte> bytes) {
  Instruction out;
  const std::uint8_t first = reader.u8();
  const std::uint8_t low = first & 0x3f;
  out.opcode = first & 0xc0;
  if (out.opcode == cfa_advance_loc) {
    out.number = low;
  } else if (out.opcode == cfa_offset) {
    out.reg = low;
    out.number = reader.uleb();
  } else if (out.opcode == cfa_restore) {
    out.reg = low;
  } else {
    out.opcode = first;
    if (!read_operands(reader, bytes, out)) return std::nullopt;
  }
  if (reader.failed()) return std::nullopt;
  return out;
}

Survey survey(std::span<const std::byte> instructions, const AbiTraits& abi) {
  Survey out;
  DwarfReader reader(instructions, 0, instructions.size(), abi.byte_order);
  while (reader.left() != 0) {
    const auto one = read_instruction(reader, instructions);
    if (!one || one->reg >= AllRegisters::slots) {
      out.understood = false;
      out.size = instructions.size();
      return out;
    }
    if (one->opcode != cfa_nop) out.size = static_cast<std::size_t>(reader.at());
    if (one->opcode == cfa_restore || one->opcode == cfa_restore_extended) out.restored.push_back(one->reg);
    const bool other = one->opcode == cfa_gnu_args_size || one->opcode == cfa_gnu_negative_offset_extended ||
                       one->opcode == cfa_aarch64_negate_ra_state_with_pc ||
                       (one->opcode == cfa_window_save && !abi.signs_return_addresses);
    if (other) out.understood = false;
  }
  return out;
}

} // namespace sframe::shrink
