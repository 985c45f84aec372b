// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores ("Loads and Stores" of the Arm ARM). A pair or a single register is stored at base +
// offset; the base may be written back, before the access (pre-index) or after it. A register offset makes
// the address unknown: such a store is assumed not to hit the frame's saved registers; such a load matters
// only for jump tables.
//
// Tracked words are X registers. Storing a W or vector register overwrites memory, and loading a W register
// is a clobber.

#include "encoding.h"

#include <array>
#include <bit>

namespace sframe::code::aarch64 {
namespace {

constexpr std::uint8_t word_bytes = 8;

enum class Index : std::uint8_t { offset, pre, post };

/// One access with an immediate offset: `count` registers of `size` bytes each.
struct Access {
  std::array<std::uint8_t, 2> registers{};
  std::uint8_t count = 1;
  std::uint8_t size = word_bytes; ///< bytes of memory for each
  std::uint8_t base = sp;
  bool is_vector = false;
  bool is_load = false;
  Index index = Index::offset;
  std::int64_t offset = 0;

  bool loads_base() const {
    const auto hit = [this](std::size_t i) { return i < count && registers[i] == base && base != sp; };
    return is_load && !is_vector && (hit(0) || hit(1));
  }
};

void load_one(const Access& access, std::size_t i, std::int64_t offset, EffectList& effects) {
  const std::uint8_t reg = access.registers[i];
  if (reg == zero_register) return;
  if (access.size == word_bytes)
    effects.load(reg, access.base, offset + static_cast<std::int64_t>(i) * word_bytes);
  else
    effects.clobber(reg);
}

void transfer(const Access& access, std::int64_t offset, EffectList& effects) {
  if (access.is_load) {
    if (access.is_vector) return;
    // The base is loaded last, since the other load needs it.
    const bool reversed = access.count == 2 && access.registers[0] == access.base;
    for (std::size_t i = 0; i < access.count; ++i)
      load_one(access, reversed ? access.count - 1 - i : i, offset, effects);
    return;
  }
  if (access.is_vector || access.size != word_bytes)
    return effects.overwrite(static_cast<std::uint8_t>(access.size * access.count), access.base, offset);
  for (std::size_t i = 0; i < access.count; ++i) {
    const std::int64_t at = offset + static_cast<std::int64_t>(i) * word_bytes;
    if (access.registers[i] == zero_register)
      effects.overwrite(word_bytes, access.base, at);
    else
      effects.store(access.registers[i], access.base, at);
  }
}

void emit(const Access& access, EffectList& effects) {
  if (access.index == Index::offset) return transfer(access, access.offset, effects);
  if (access.loads_base()) { // unpredictable: the base is written twice
    transfer(access, 0, effects);
    effects.clobber(access.base);
    return;
  }
  if (access.index == Index::pre) effects.set(access.base, access.base, access.offset);
  transfer(access, 0, effects);
  if (access.index == Index::post) effects.set(access.base, access.base, access.offset);
}

void decode_pair(Word word, EffectList& effects) {
  const unsigned opc = word.field(31, 30), addressing = word.field(24, 23);
  Access access{.registers = {word.rd(), word.rt2()},
                .count = 2,
                .base = word.rn(),
                .is_vector = word.bit(26),
                .is_load = word.bit(22)};
  unsigned scale = opc == 2 ? 3 : 2;
  if (access.is_vector) scale = 2 + opc;
  access.size = static_cast<std::uint8_t>(1u << scale);
  if (!access.is_vector && opc == 1 && !access.is_load) { // stgp: two words, counted in granules of 16
    scale = 4;
    access.size = word_bytes;
  }
  access.offset = word.signed_field(21, 15) * (std::int64_t{1} << scale);
  if (addressing == 1) access.index = Index::post;
  if (addressing == 3) access.index = Index::pre;
  emit(access, effects);
}

/// Size and direction of a single register's access by the fields size, V and opc. False: a prefetch.
bool single_access(Word word, Access& access, unsigned& scale) {
  const unsigned size = word.field(31, 30), opc = word.field(23, 22);
  access.registers[0] = word.rd();
  access.base = word.rn();
  access.is_vector = word.bit(26);
  scale = size;
  if (access.is_vector) {
    if (opc & 2) scale = 4;
    access.is_load = opc & 1;
  } else {
    access.is_load = opc != 0;
    if (size == 3 && opc == 2) return false;
  }
  access.size = static_cast<std::uint8_t>(1u << scale);
  return true;
}

void decode_unsigned_offset(Word word, EffectList& effects) {
  Access access;
  unsigned scale = 0;
  if (!single_access(word, access, scale)) return;
  access.offset = static_cast<std::int64_t>(word.field(21, 10)) << scale;
  emit(access, effects);
}

void decode_signed_offset(Word word, EffectList& effects) {
  Access access;
  unsigned scale = 0;
  if (!single_access(word, access, scale)) return;
  access.offset = word.signed_field(20, 12);
  const unsigned addressing = word.field(11, 10); // 0 plain, 1 post, 2 unprivileged, 3 pre
  if (addressing == 1) access.index = Index::post;
  if (addressing == 3) access.index = Index::pre;
  emit(access, effects);
}

/// The address has a register offset: a load may be from a jump table.
void decode_register_offset(Word word, EffectList& effects) {
  Access access;
  unsigned scale = 0;
  if (!single_access(word, access, scale)) return;
  if (access.is_vector || !access.is_load || word.rd() == zero_register) return;
  const unsigned opc = word.field(23, 22);
  const bool sign_extends_to_32 = opc == 3;
  if (sign_extends_to_32 || word.rm() == zero_register) return effects.clobber(word.rd());
  effects.append({.kind = Effect::Kind::load_table,
                  .reg = word.rd(),
                  .source = word.rn(),
                  .index = word.rm(),
                  .size = access.size,
                  .scale = static_cast<std::uint8_t>(word.bit(12) ? 1u << scale : 1u),
                  .is_signed = opc == 2});
}

void decode_authenticated_load(Word word, EffectList& effects) { // ldraa, ldrab
  const bool writes_back = word.bit(11);
  const std::int64_t offset = (static_cast<std::int64_t>(word.field(20, 12)) - (word.bit(22) ? 512 : 0)) * 8;
  if (writes_back) effects.set(word.rn(), word.rn(), offset);
  clobber_general(effects, word.rd());
}

/// Atomic operations on memory, without and with V (vector registers).
void decode_atomic(Word word, EffectList& effects) {
  const bool is_vector = word.bit(26), o3 = word.bit(15);
  const unsigned opc = word.field(14, 12), size = word.field(31, 30);
  const bool is_64_bytes = !is_vector && size == 3 && o3;
  constexpr unsigned st64b = 1, st64bv0 = 2, st64bv = 3, ldapr = 4, ld64b = 5;
  constexpr std::uint8_t block = 64;
  if (is_64_bytes && opc == ld64b) {
    for (std::uint8_t i = 0; i < 8; ++i)
      clobber_general(effects, static_cast<std::uint8_t>((word.rd() + i) % 32));
    return;
  }
  if (is_64_bytes && (opc == st64b || opc == st64bv || opc == st64bv0)) {
    effects.overwrite(block, word.rn(), 0);
    if (opc != st64b) clobber_general(effects, word.rm());
    return;
  }
  const bool only_loads = !is_vector && o3 && opc == ldapr;
  if (!only_loads) effects.overwrite(static_cast<std::uint8_t>(1u << size), word.rn(), 0);
  if (!is_vector) clobber_general(effects, word.rd());
}

void decode_single(Word word, EffectList& effects) {
  if (word.bit(24)) return decode_unsigned_offset(word, effects);
  if (!word.bit(21)) return decode_signed_offset(word, effects);
  switch (word.field(11, 10)) {
  case 0: return decode_atomic(word, effects);
  case 2: return decode_register_offset(word, effects);
  default: return decode_authenticated_load(word, effects);
  }
}

std::uint8_t following(std::uint8_t reg) {
  return static_cast<std::uint8_t>((reg + 1) % 32);
}

/// Compare and swap: of a register, or of two with `bytes` each. Rs receives the old memory contents.
void decode_swap(Word word, unsigned bytes, bool is_pair, EffectList& effects) {
  effects.overwrite(static_cast<std::uint8_t>(is_pair ? bytes * 2 : bytes), word.rn(), 0);
  clobber_general(effects, word.rm());
  if (is_pair) clobber_general(effects, following(word.rm()));
}

/// Exclusive and ordered accesses, compare and swap. With bit 24: the unprivileged ones.
void decode_exclusive(Word word, EffectList& effects) {
  const unsigned size = word.field(31, 30);
  const bool ordered = word.bit(23), loads = word.bit(22), o1 = word.bit(21), unprivileged = word.bit(24);
  const auto bytes = static_cast<std::uint8_t>(1u << size);
  const bool swaps_pair = size < 2 && (unprivileged ? ordered : o1 && !ordered);
  if (swaps_pair) {
    decode_swap(word, 4u << (size & 1), true, effects);
  } else if (ordered && (o1 || unprivileged)) {
    decode_swap(word, bytes, false, effects);
  } else if (ordered) { // ldar, stlr, ldlar, stllr
    emit({.registers = {word.rd()}, .size = bytes, .base = word.rn(), .is_load = loads}, effects);
  } else if (loads) { // ldxr, ldxp
    clobber_general(effects, word.rd());
    if (o1) clobber_general(effects, word.rt2());
  } else { // stxr, stxp: Rs receives the status
    effects.overwrite(static_cast<std::uint8_t>(o1 ? bytes * 2 : bytes), word.rn(), 0);
    clobber_general(effects, word.rm());
  }
}

/// ld1 to st4: structures of vector registers, with an optional write-back by their size or by a register.
void decode_structures(Word word, EffectList& effects) {
  const bool single = word.bit(24), writes_back = word.bit(23), loads = word.bit(22);
  unsigned bytes = 0;
  if (single) {
    const unsigned opcode = word.field(15, 13), size = word.field(11, 10);
    const unsigned elements = ((opcode & 1) << 1 | word.field(21, 21)) + 1;
    unsigned scale = opcode >> 1;
    if (scale == 2 && (size & 1)) scale = 3;
    if (opcode >= 6) scale = size; // ld1r, ...
    bytes = elements << scale;
  } else {
    constexpr std::array<std::uint8_t, 16> registers = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
    bytes = registers[word.field(15, 12)] * (word.bit(30) ? 16u : 8u);
  }
  if (!loads) effects.overwrite(static_cast<std::uint8_t>(bytes), word.rn(), 0);
  if (!writes_back) return;
  if (word.rm() == 31)
    effects.set(word.rn(), word.rn(), bytes);
  else
    effects.add(word.rn(), word.rm(), 1);
}

/// Memory tags. stzg and st2zg (the field opc is odd) also clear the tagged memory.
void decode_tag(Word word, EffectList& effects) {
  const unsigned opc = word.field(23, 22), addressing = word.field(11, 10);
  constexpr std::uint8_t granule = 16;
  if (addressing == 0) { // ldg, ldgm write Rt; stzgm and stgm are for kernels
    if (opc & 1) clobber_general(effects, word.rd());
    return;
  }
  const std::int64_t offset = word.signed_field(20, 12) * granule;
  if (addressing == 3) effects.set(word.rn(), word.rn(), offset);
  if (opc & 1) effects.overwrite(opc == 3 ? 2 * granule : granule, word.rn(), addressing == 2 ? offset : 0);
  if (addressing == 1) effects.set(word.rn(), word.rn(), offset);
}

/// cpy..., set...: in three steps, which update the addresses, the size and (for copies) the source.
void decode_memory_copy(Word word, EffectList& effects) {
  const bool copies = word.field(23, 22) != 3;
  clobber_general(effects, word.rd());
  clobber_general(effects, word.rn());
  if (copies) clobber_general(effects, word.rm());
  effects.lose_flags();
}

/// Atomic operations newer than those of decode_atomic, on up to 16 bytes.
void decode_wide_atomic(Word word, EffectList& effects) {
  enum { pair_of_fields = 0, unprivileged = 1, swap = 2, swap_pair = 3 };
  const auto kind = word.field(11, 10);
  if (kind == swap || kind == swap_pair) return decode_swap(word, word_bytes, kind == swap_pair, effects);
  effects.overwrite(2 * word_bytes, word.rn(), 0);
  clobber_general(effects, word.rd());
  if (kind == pair_of_fields) clobber_general(effects, word.rm());
}

/// ldiapp, stilp, ldap, stlp; and ldapr and stlr with write-back, by the size of the access.
void decode_ordered(Word word, EffectList& effects) {
  const bool single = word.bit(23), loads = word.bit(22), writes_back = word.field(15, 12) == 0;
  if (writes_back) effects.clobber(word.rn());
  if (loads) {
    clobber_general(effects, word.rd());
    if (!single) clobber_general(effects, word.rm());
  } else if (!writes_back) {
    effects.overwrite(2 * word_bytes, word.rn(), 0);
  }
}

/// Bits 29, 28 and 24: 0, 1, 1. Miscellaneous extensions of the architecture.
void decode_extension(Word word, EffectList& effects) {
  const bool high_size = word.field(31, 30) == 3, is_vector = word.bit(26);
  const unsigned kind = word.field(11, 10);
  if (is_vector ? kind != 2 : kind == 1 && !word.bit(21))
    decode_memory_copy(word, effects);
  else if (word.bit(21) && high_size)
    decode_tag(word, effects);
  else if (word.bit(21))
    decode_wide_atomic(word, effects);
  else if (kind == 0 || is_vector) // ldapur, stlur
    decode_signed_offset({word.bits & ~0xc00u}, effects);
  else if (kind == 2)
    decode_ordered(word, effects);
}

void decode_literal(Word word, EffectList& effects) {
  const bool is_prefetch = word.field(31, 30) == 3, is_vector = word.bit(26);
  if (!is_vector && !is_prefetch) clobber_general(effects, word.rd());
}

} // namespace

void decode_memory(Word word, EffectList& effects) {
  switch (word.field(29, 28)) {
  case 0:
    if (word.bit(26))
      decode_structures(word, effects);
    else
      decode_exclusive(word, effects);
    return;
  case 1:
    if (word.bit(24))
      decode_extension(word, effects);
    else
      decode_literal(word, effects);
    return;
  case 2: decode_pair(word, effects); return;
  default: decode_single(word, effects); return;
  }
}

} // namespace sframe::code::aarch64
