// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data processing on general registers ("Data Processing -- Immediate" and "-- Register" of the Arm ARM).
//
// Exact are the instructions that set up and tear down frames (additions to SP), that compute large frame
// sizes (mov, movk) and that compute an index or a target of a jump table (compares, masks, extensions, left
// shifts; a write of a W register clears the upper half). All others clobber their destination.

#include "encoding.h"

#include <algorithm>
#include <bit>

namespace sframe::code::aarch64 {
namespace {

constexpr std::int64_t low_half = 0xffff'ffff;
constexpr std::uint8_t half = 4; ///< bytes of a W register

void decode_address(Word word, std::uint64_t address, EffectList& effects) { // adr, adrp
  if (word.rd() == zero_register) return;
  const std::int64_t imm = word.signed_field(23, 5) * 4 + word.field(30, 29);
  const bool page = word.bit(31);
  const std::uint64_t base = page ? address & ~std::uint64_t{0xfff} : address;
  effects.set_constant(
      word.rd(), static_cast<std::int64_t>(base + (static_cast<std::uint64_t>(imm) << (page ? 12 : 0))));
}

void decode_add_immediate(Word word, EffectList& effects) {
  const bool subtracts = word.bit(30), sets_flags = word.bit(29);
  const std::int64_t imm = static_cast<std::int64_t>(word.field(21, 10)) << (word.bit(22) ? 12 : 0);
  if (sets_flags) {
    if (subtracts)
      effects.compare(word.rn(), imm);
    else
      effects.lose_flags();
    if (word.rd() == zero_register) return;
  }
  if (word.is_64bit())
    effects.set(word.rd(), word.rn(), subtracts ? -imm : imm);
  else
    effects.set_narrow(word.rd(), word.rn(), subtracts ? -imm : imm, half, false);
}

/// The mask of a logical immediate: a run of ones, rotated, repeated. Field values without a mask are
/// unallocated; for these any mask will do.
std::uint64_t logical_mask(Word word) {
  const std::uint32_t imms = word.field(15, 10), immr = word.field(21, 16);
  const std::uint32_t length_bits = (word.field(22, 22) << 6) | (~imms & 0x3f);
  const unsigned size = std::max(std::bit_floor(length_bits), 2u);
  const unsigned ones = (imms & (size - 1)) + 1, rotation = immr & (size - 1);
  const auto low = [](unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; };
  std::uint64_t element = low(ones);
  if (rotation) element = ((element >> rotation) | (element << (size - rotation))) & low(size);
  std::uint64_t mask = 0;
  for (unsigned at = 0; at < 64; at += size) mask |= element << at;
  return mask;
}

void move_and_mask(Word word, std::uint8_t source, std::int64_t mask, EffectList& effects) {
  if (word.rd() != source) effects.set(word.rd(), source, 0);
  effects.mask(word.rd(), mask);
}

void decode_logical_immediate(Word word, EffectList& effects) {
  enum { and_, orr, eor, ands };
  const auto operation = word.field(30, 29);
  auto mask = static_cast<std::int64_t>(logical_mask(word));
  if (!word.is_64bit()) mask &= low_half;
  const bool source_is_zero = word.rn() == zero_register;
  if (operation == ands) {
    effects.lose_flags();
    if (word.rd() == zero_register) return;
  }
  // Swift's asynchronous functions mark the caller's FP before they save it.
  constexpr std::int64_t frame_mark = std::int64_t{1} << 60;
  const bool is_frame_pointer = word.rd() == frame_pointer && word.rn() == frame_pointer;
  if (is_frame_pointer && operation == orr && mask == frame_mark)
    effects.sign(frame_pointer, 0);
  else if (is_frame_pointer && operation == and_ && mask == ~frame_mark)
    effects.authenticate(frame_pointer, 0);
  else if (source_is_zero)
    effects.set_constant(word.rd(), operation == orr || operation == eor ? mask : 0);
  else if (operation == and_ || operation == ands)
    move_and_mask(word, word.rn(), mask, effects);
  else
    effects.clobber(word.rd());
}

/// rd := rn << amount, as additions.
void shift_left(std::uint8_t rd, std::uint8_t rn, unsigned amount, EffectList& effects) {
  const std::uint64_t factor = std::uint64_t{1} << amount;
  if (rd == rn) return effects.add(rd, rd, static_cast<std::int64_t>(factor - 1));
  effects.set_constant(rd, 0);
  effects.add(rd, rn, static_cast<std::int64_t>(factor));
}

void decode_move_wide(Word word, EffectList& effects) {
  enum { movn = 0, movz = 2, movk = 3 };
  if (word.rd() == zero_register) return;
  const unsigned shift = word.field(22, 21) * 16;
  const std::uint64_t imm = static_cast<std::uint64_t>(word.field(20, 5)) << shift;
  const std::uint64_t width = word.is_64bit() ? ~0ull : low_half;
  switch (word.field(30, 29)) {
  case movz: effects.set_constant(word.rd(), static_cast<std::int64_t>(imm & width)); return;
  case movn: effects.set_constant(word.rd(), static_cast<std::int64_t>(~imm & width)); return;
  case movk: // clear 16 bits, then fill them
    effects.mask(word.rd(), static_cast<std::int64_t>(~(0xffffull << shift) & width));
    effects.set(word.rd(), word.rd(), static_cast<std::int64_t>(imm & width));
    return;
  default: effects.clobber(word.rd()); return;
  }
}

/// sbfm, bfm, ubfm: shifts and extensions. Left shifts, and extensions of the lowest bytes, keep what is
/// known of an index.
void decode_bitfield(Word word, EffectList& effects) {
  enum { sbfm, bfm, ubfm };
  const std::uint8_t rd = word.rd(), rn = word.rn();
  if (rd == zero_register) return;
  const auto operation = word.field(30, 29);
  const unsigned immr = word.field(21, 16), width = word.field(15, 10) + 1;
  const bool is_bytes = immr == 0 && (width == 8 || width == 16 || (width == 32 && word.is_64bit()));
  const bool extends = operation == ubfm || (operation == sbfm && word.is_64bit());
  const bool is_shift = operation == ubfm && word.is_64bit() && width <= 63 && immr == width;
  if (rn == zero_register && operation != bfm)
    effects.set_constant(rd, 0);
  else if (extends && is_bytes)
    effects.set_narrow(rd, rn, 0, static_cast<std::uint8_t>(width / 8), operation == sbfm);
  else if (is_shift)
    shift_left(rd, rn, 64 - immr, effects);
  else
    effects.clobber(rd);
}

/// rd := rn + rm * factor; none of them is the zero register. Effects add in place.
void add_scaled(std::uint8_t rd, std::uint8_t rn, std::uint8_t rm, std::int64_t factor, EffectList& effects) {
  if (rd == rm && rd != rn) {
    effects.set(scratch, rm, 0);
    rm = scratch;
  }
  if (rd != rn) effects.set(rd, rn, 0);
  effects.add(rd, rm, factor);
}

/// Sets the flags of an addition or subtraction of registers, which may be a compare.
void note_flags(Word word, bool is_plain_compare, EffectList& effects) {
  if (is_plain_compare)
    effects.compare_registers(word.rn(), word.rm());
  else
    effects.lose_flags();
}

void decode_add_shifted(Word word, EffectList& effects) {
  const bool subtracts = word.bit(30), sets_flags = word.bit(29);
  const unsigned shift_kind = word.field(23, 22), amount = word.field(15, 10);
  const std::uint8_t rd = word.rd(), rn = word.rn(), rm = word.rm();
  const bool has_zero = rn == zero_register || rm == zero_register;
  if (sets_flags) note_flags(word, subtracts && amount == 0 && !has_zero, effects);
  if (rd == zero_register) return;
  const auto magnitude = static_cast<std::int64_t>(std::uint64_t{1} << amount);
  const bool exact = word.is_64bit() && shift_kind == 0 && amount < 63;
  if (exact && rm == zero_register && rn != zero_register)
    effects.set(rd, rn, 0);
  else if (exact && !has_zero)
    add_scaled(rd, rn, rm, subtracts ? -magnitude : magnitude, effects);
  else
    effects.clobber(rd);
}

void decode_add_extended(Word word, EffectList& effects) {
  const bool subtracts = word.bit(30), sets_flags = word.bit(29);
  const unsigned option = word.field(15, 13), shift = word.field(12, 10);
  const bool is_signed = option & 4;
  const auto size = static_cast<std::uint8_t>(1u << (option & 3));
  const std::uint8_t rd = word.rd(), rn = word.rn(), rm = word.rm();
  const bool is_whole = size == (word.is_64bit() ? 8 : half);
  if (sets_flags) {
    note_flags(word, subtracts && is_whole && shift == 0 && rm != zero_register, effects);
    if (rd == zero_register) return;
  }
  const std::int64_t factor = (subtracts ? -1 : 1) * (std::int64_t{1} << shift);
  if (!word.is_64bit() || rm == zero_register) {
    effects.clobber(rd);
  } else if (is_whole) {
    add_scaled(rd, rn, rm, factor, effects);
  } else {
    effects.set_narrow(scratch, rm, 0, size, is_signed);
    add_scaled(rd, rn, scratch, factor, effects);
  }
}

void mask_by_register(std::uint8_t rd, std::uint8_t rn, std::uint8_t rm, EffectList& effects) {
  if (rd == rm) std::swap(rn, rm);
  if (rd != rn) effects.set(rd, rn, 0);
  effects.mask_by(rd, rm);
}

void decode_logical_shifted(Word word, EffectList& effects) {
  enum { and_, orr, eor, ands };
  const auto operation = word.field(30, 29);
  const bool inverted = word.bit(21), shifted = word.field(15, 10) != 0 || word.field(23, 22) != 0;
  if (operation == ands) effects.lose_flags();
  const std::uint8_t rd = word.rd(), rm = word.rm();
  if (rd == zero_register) return;
  const bool is_move = operation == orr && word.rn() == zero_register && !inverted && !shifted;
  const bool masks = operation == and_ && !inverted && !shifted && word.is_64bit() &&
                     word.rn() != zero_register && rm != zero_register;
  if (masks)
    mask_by_register(rd, word.rn(), rm, effects);
  else if (!is_move)
    effects.clobber(rd);
  else if (rm == zero_register)
    effects.set_constant(rd, 0);
  else if (word.is_64bit())
    effects.set(rd, rm, 0);
  else
    effects.set_narrow(rd, rm, 0, half, false);
}

/// Pointer authentication of a named register: "Data-processing (1 source)" with opcode2 = 1.
void decode_pointer_authentication(Word word, EffectList& effects) {
  const unsigned opcode = word.field(15, 10);
  const auto key = static_cast<std::uint8_t>(opcode & 1);
  constexpr unsigned first_fixed = 32; // those with a fixed register: bits 4 to 0 are always 30
  constexpr unsigned xpaci = 16, xpacd = 17;
  if (opcode >= first_fixed) {
    switch (opcode & ~1u) {
    case 32:
    case 40: effects.sign(link_register, key, true); return;   // pacnbi[ab]sppc, paci[ab]sppc
    case 36: effects.authenticate(link_register, key); return; // auti[ab]sppcr
    default: effects.clobber(17); return;                      // paci[ab]171615, auti[ab]171615
    }
  }
  if (word.rd() == zero_register) return;
  const bool data_key = opcode & 2, uses_key = opcode < xpaci;
  if (word.rd() != link_register || opcode > xpacd || (uses_key && data_key))
    effects.clobber(word.rd());
  else if (!uses_key)
    effects.authenticate(link_register, key_a); // the key is not known, but the code is removed
  else
    opcode & 4 ? effects.authenticate(link_register, key) : effects.sign(link_register, key);
}

/// csel with the zero register, and csetm (csinv of zero registers): the masks of code that is hardened
/// against wrong speculation (clang -mspeculative-load-hardening, gcc -mtrack-speculation).
void decode_select(Word word, EffectList& effects) {
  const std::uint8_t rd = word.rd(), rn = word.rn(), rm = word.rm();
  if (rd == zero_register) return;
  const bool inverts = word.bit(30), is_plain = word.is_64bit() && word.field(11, 10) == 0;
  const bool both_zero = rn == zero_register && rm == zero_register;
  const bool one_zero = (rn == zero_register) != (rm == zero_register);
  if (is_plain && inverts && both_zero)
    effects.set_constant(rd, -1);
  else if (is_plain && !inverts && one_zero)
    effects.set(rd, rn == zero_register ? rm : rn, 0);
  else
    return effects.clobber(rd);
  effects.or_zero(rd);
}

/// The classes with bit 28: with carry, conditional, one to three sources.
void decode_many_sources(Word word, EffectList& effects) {
  switch (word.field(24, 21)) {
  case 0b0000: {
    const bool sums = word.field(14, 10) == 0 && !word.bit(15); // adc, sbc; otherwise rmif, setf: flags only
    const bool checked_pointer = word.field(15, 13) == 1 && word.is_64bit(); // addpt, subpt: 31 is SP
    if (sums && word.bit(29)) effects.lose_flags();
    if (checked_pointer)
      effects.clobber(word.rd());
    else if (sums)
      clobber_general(effects, word.rd());
    else
      effects.lose_flags();
    return;
  }
  case 0b0010: effects.lose_flags(); return; // ccmp, ccmn
  case 0b0100: decode_select(word, effects); return;
  case 0b0110:
    if (word.bit(30) && word.rm() == 1) return decode_pointer_authentication(word, effects);
    if (!word.bit(30) && word.bit(29)) effects.lose_flags(); // subps
    if (!word.bit(30) && word.field(15, 10) == 4)            // irg: 31 is SP
      effects.clobber(word.rd());
    else
      clobber_general(effects, word.rd());
    return;
  default: clobber_general(effects, word.rd()); return; // madd, ...
  }
}

} // namespace

void decode_immediate(Word word, std::uint64_t address, EffectList& effects) {
  switch (word.field(25, 23)) {
  case 0b000:
  case 0b001: decode_address(word, address, effects); return;
  case 0b010: decode_add_immediate(word, effects); return;
  case 0b011:
    if (word.bit(22)) // smax, umin, ...
      clobber_general(effects, word.rd());
    else // addg, subg: 31 is SP
      effects.clobber(word.rd());
    return;
  case 0b100: decode_logical_immediate(word, effects); return;
  case 0b101: decode_move_wide(word, effects); return;
  case 0b110: decode_bitfield(word, effects); return;
  default:
    if (word.field(31, 29) == 0b111) // auti[ab]sppc
      effects.authenticate(link_register, word.bit(21) ? key_b : key_a);
    else // extr
      clobber_general(effects, word.rd());
    return;
  }
}

void decode_register(Word word, EffectList& effects) {
  if (word.bit(28)) return decode_many_sources(word, effects);
  if (!word.bit(24)) return decode_logical_shifted(word, effects);
  if (word.bit(21)) return decode_add_extended(word, effects);
  decode_add_shifted(word, effects);
}

} // namespace sframe::code::aarch64
