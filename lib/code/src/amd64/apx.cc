// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways. REX2 is a REX prefix with one more bit for each register: without_rex2() makes the instruction
// with REX, which Zydis decodes, and remembers which registers are others:
//
//   d5 48 89 c3    mov %r16, %rbx    payload 48: the register in `reg` has bit 4, and 64 bits
//      48 89 c3    mov %rax, %rbx    for Zydis; extends_reg: not rax, but r16, which is not tracked
//
// Of EVEX's map 4 nothing is known to Zydis: decode_apx() reads prefix, ModRM and immediate itself. What an
// opcode writes is in the is_...() and writes_...() functions; an opcode that is in none of them is refused.

#include "amd64/apx.h"

#include "amd64/byte_reader.h"
#include "effect_list.h"

#include <algorithm>
#include <initializer_list>

namespace sframe::code::amd64 {
namespace {

constexpr unsigned rex2 = 0xd5, evex = 0x62, operand_size = 0x66;

bool is_legacy_prefix(unsigned byte) {
  return byte == operand_size || byte == 0xf2 || byte == 0xf3 || byte == 0x67 || byte == 0x64 ||
         byte == 0x65 || byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e;
}

/// True for opcodes that REX2 may precede: no prefixes, and none of the rows that are reserved.
bool may_have_rex2(unsigned opcode, bool is_map_1) {
  const unsigned row = opcode >> 4;
  if (is_map_1) return row != 3 && row != 8;
  const bool is_escape =
      opcode == 0x0f || opcode == evex || opcode == 0xc4 || opcode == 0xc5 || opcode == rex2;
  return row != 4 && row != 7 && row != 0xa && row != 0xe && opcode != 0xf0 && !is_escape &&
         !is_legacy_prefix(opcode);
}

/// The payload of an EVEX prefix in map 4.
struct Payload {
  unsigned reg_bits, rm_bits, v; ///< bits 3 and 4 of the registers in ModRM; the register in `vvvv`
  bool extends_index;
  unsigned prefix; ///< 0 none, 1 66, 2 f3, 3 f2
  bool is_wide, has_new_destination, keeps_flags;
};

std::optional<Payload> read_payload(ByteReader& reader) {
  constexpr unsigned map_mask = 7, map = 4, reserved = 5;
  const unsigned first = reader.next(), second = reader.next(), third = reader.next();
  if ((first & map_mask) != map || third >> reserved != 0) return std::nullopt;
  const auto is_clear = [](unsigned byte, unsigned bit) { return ~byte >> bit & 1; };
  return Payload{.reg_bits = is_clear(first, 7) << 3 | is_clear(first, 4) << 4,
                 .rm_bits = is_clear(first, 5) << 3 | (first >> 3 & 1) << 4,
                 .v = (~second >> 3 & 15) | is_clear(third, 3) << 4,
                 .extends_index = is_clear(first, 6) || is_clear(second, 2),
                 .prefix = second & 3,
                 .is_wide = (second >> 7 & 1) != 0,
                 .has_new_destination = (third >> 4 & 1) != 0,
                 .keeps_flags = (third >> 2 & 1) != 0};
}

/// By number: as the instructions have them.
std::uint8_t dwarf_number(unsigned hardware) {
  constexpr unsigned tracked = 16;
  return hardware < tracked ? gpr(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + hardware)).number
                            : Effect::none;
}

bool is_one_of(unsigned opcode, std::initializer_list<unsigned> opcodes) {
  return std::ranges::find(opcodes, opcode) != opcodes.end();
}

/// add, or, adc, sbb, and, sub, xor, and ccmp of a register and a register or memory.
bool is_binary(unsigned opcode) {
  return opcode < 0x40 && (opcode & 7) < 4;
}
bool is_conditional(unsigned opcode) {
  return opcode >> 4 == 4;
} // cmov, set
bool is_group(unsigned opcode) {
  return is_one_of(opcode,
                   {0x80, 0x81, 0x83, 0x8f, 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff});
}
bool writes_reg(unsigned opcode) {
  const bool is_to_reg = is_binary(opcode) && (opcode & 2) != 0;
  return is_to_reg || is_conditional(opcode) ||
         is_one_of(opcode, {0x60, 0x66, 0x69, 0x6b, 0x88, 0xaf, 0xf0, 0xf1, 0xf4, 0xf5});
}
bool is_known(unsigned opcode) {
  return is_binary(opcode) || is_group(opcode) || writes_reg(opcode) ||
         is_one_of(opcode, {0x24, 0x2c, 0x61, 0x65, 0x84, 0x85, 0xa5, 0xad, 0xf2, 0xf8, 0xf9});
}
/// ctest, ccmp: they have no destination.
bool writes_flags_alone(unsigned opcode, unsigned extension) {
  const bool is_compare = is_one_of(opcode, {0x80, 0x81, 0x83}) && extension == 7;
  const bool is_test = is_one_of(opcode, {0xf6, 0xf7}) && extension < 2;
  return opcode >> 2 == 0x38 >> 2 || is_compare || is_test || opcode == 0x84 || opcode == 0x85;
}

unsigned immediate_size(unsigned opcode, unsigned extension, const Payload& payload) {
  const bool is_test = extension < 2, is_16_bit = payload.prefix == 1 && !payload.is_wide;
  if (is_one_of(opcode, {0x24, 0x2c, 0x6b, 0x80, 0x83, 0xc0, 0xc1}) || (opcode == 0xf6 && is_test)) return 1;
  if (is_one_of(opcode, {0x69, 0x81}) || (opcode == 0xf7 && is_test)) return is_16_bit ? 2 : 4;
  return 0;
}

/// An instruction of EVEX's map 4.
struct Map4 {
  Payload payload;
  unsigned opcode;
  ModRm modrm;
  std::int64_t immediate = 0;

  std::uint8_t reg() const { return dwarf_number(modrm.reg | payload.reg_bits); }
  std::uint8_t rm() const { return dwarf_number(modrm.rm | payload.rm_bits); }
  std::uint8_t new_destination() const { return dwarf_number(payload.v); }
};

void clobber(std::uint8_t reg, EffectList& effects) {
  if (reg != Effect::none) effects.clobber(reg);
}

void clobber_rm(const Map4& is, EffectList& effects) {
  constexpr std::uint8_t word = 8;
  if (is.modrm.in_register) return clobber(is.rm(), effects);
  const bool has_index = is.modrm.has_index || is.payload.extends_index;
  if (is.modrm.has_base && !has_index && is.rm() != Effect::none)
    effects.overwrite(word, is.rm(), is.modrm.displacement);
}

void push_or_pop_two(const Map4& is, bool pushes, EffectList& effects) {
  constexpr std::int64_t word = 8;
  const std::uint8_t first = is.new_destination(), second = is.rm();
  const auto move = [&](std::uint8_t reg, std::int64_t offset) {
    if (pushes && reg == Effect::none) return effects.overwrite(word, rsp, offset);
    if (pushes) return effects.store(reg, rsp, offset);
    if (reg != Effect::none) effects.load(reg, rsp, offset);
  };
  move(first, pushes ? -word : 0);
  move(second, pushes ? -2 * word : word);
  effects.add(rsp, Effect::none, pushes ? -2 * word : 2 * word);
}

/// add and sub of a constant, 64 bits. False if it is another instruction, or not of registers that are
/// tracked.
bool add_constant(const Map4& is, EffectList& effects) {
  constexpr unsigned add = 0, sub = 5;
  const bool adds = is.modrm.reg == add;
  if (!is_one_of(is.opcode, {0x81, 0x83}) || (!adds && is.modrm.reg != sub) || !is.payload.is_wide ||
      !is.modrm.in_register)
    return false;
  const std::uint8_t to = is.payload.has_new_destination ? is.new_destination() : is.rm();
  if (is.rm() == Effect::none || to == Effect::none) return false;
  const std::int64_t change = adds ? is.immediate : -is.immediate;
  if (to == is.rm())
    effects.add(to, Effect::none, change);
  else
    effects.set(to, is.rm(), change);
  return true;
}

void translate(const Map4& is, EffectList& effects) {
  constexpr unsigned push2 = 0xff, pop2 = 0x8f, multiply = 4, f2 = 3;
  const unsigned extension = is.modrm.reg;
  if ((is.opcode == push2 && extension == 6) || is.opcode == pop2)
    return push_or_pop_two(is, is.opcode == push2, effects);
  if (writes_flags_alone(is.opcode, extension) || add_constant(is, effects)) return;
  if (is_one_of(is.opcode, {0xf6, 0xf7}) && extension >= multiply) {
    effects.clobber(rax);
    return effects.clobber(rdx);
  }
  const bool sets = is_conditional(is.opcode) && is.payload.prefix == f2; // the other bit clears upper bits
  if (is.payload.has_new_destination && !sets) return clobber(is.new_destination(), effects);
  const bool to_reg = writes_reg(is.opcode) && !sets;
  if (to_reg) clobber(is.reg(), effects);
  if (!to_reg || (is_conditional(is.opcode) && is.payload.keeps_flags))
    clobber_rm(is, effects); // cfcmov stores
}

} // namespace

std::optional<WithoutRex2> without_rex2(std::span<const std::byte> bytes) {
  WithoutRex2 result;
  const auto append = [&](unsigned byte) {
    if (result.size < result.bytes.size()) result.bytes[result.size++] = static_cast<std::byte>(byte);
  };
  ByteReader reader(bytes);
  while (is_legacy_prefix(reader.peek())) {
    append(reader.next());
    if (reader.length() == 0) return std::nullopt;
  }
  if (reader.next() != rex2) return std::nullopt;
  const unsigned payload = reader.next();
  const bool is_map_1 = payload >> 7 != 0;
  if (!may_have_rex2(reader.peek(), is_map_1) || reader.length() == 0) return std::nullopt;
  append(0x40 | (payload & 15));
  if (is_map_1) append(0x0f);
  for (const std::byte byte : bytes.subspan(reader.length())) append(std::to_integer<unsigned>(byte));
  result.added_length = is_map_1 ? 0 : 1;
  result.extends_reg = (payload >> 6 & 1) != 0;
  result.extends_index = (payload >> 5 & 1) != 0;
  result.extends_rm = (payload >> 4 & 1) != 0;
  return result;
}

void hide_extended_registers(const WithoutRex2& instruction, std::span<ZydisDecodedOperand> operands) {
  constexpr ZydisRegister untracked = ZYDIS_REGISTER_XMM0;
  for (ZydisDecodedOperand& operand : operands) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const bool has_base = operand.mem.base != ZYDIS_REGISTER_NONE && operand.mem.base != ZYDIS_REGISTER_RIP;
      if (instruction.extends_rm && has_base && operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
        operand.mem.base = untracked;
      // An index of 4 is none without the bit.
      if (instruction.extends_index && operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
        operand.mem.index = untracked;
    } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const bool is_reg = operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG;
      const bool is_rm = operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM ||
                         operand.encoding == ZYDIS_OPERAND_ENCODING_OPCODE;
      if ((is_reg && instruction.extends_reg) || (is_rm && instruction.extends_rm))
        operand.reg.value = untracked;
    }
  }
}

bool decode_apx(std::span<const std::byte> bytes, Instruction& instruction, std::vector<Effect>& effects) {
  constexpr unsigned jmpabs = 0xa1, address_size = 8;
  ByteReader reader(bytes);
  const unsigned first = reader.next();
  if (first == rex2 && reader.next() == 0 && reader.next() == jmpabs) {
    instruction.flow = Flow::jump;
    instruction.target = static_cast<std::uint64_t>(reader.next_signed(address_size));
    instruction.length = reader.length();
    return instruction.length != 0;
  }
  reader = ByteReader(bytes);
  while (is_legacy_prefix(reader.peek()) && reader.length() != 0) reader.skip(1);
  if (reader.next() != evex) return false;
  const auto payload = read_payload(reader);
  const unsigned opcode = reader.next();
  if (!payload || !is_known(opcode)) return false;
  Map4 is{.payload = *payload, .opcode = opcode, .modrm = read_modrm(reader)};
  const bool uses_v = payload->has_new_destination || writes_flags_alone(opcode, is.modrm.reg);
  if (payload->v != 0 && !uses_v) return false; // reserved
  is.immediate = reader.next_signed(immediate_size(opcode, is.modrm.reg, *payload));
  if (reader.length() == 0) return false;
  instruction.length = reader.length();
  instruction.writes_flags = true;
  EffectList list(effects);
  translate(is, list);
  return true;
}

} // namespace sframe::code::amd64
