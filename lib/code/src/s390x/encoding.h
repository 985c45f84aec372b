// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common definitions of this decoder: the fields of an instruction, and the arguments of its handler.
//
// Bits are numbered as in the z/Architecture Principles of Operation: 0 is the first, regardless of length.
// Formats keep these fields at the same positions: R1 in bits 8 to 11, R2 or X2 or R3 in 12 to 15, a base and
// its displacement from bit 16 on. Only the 32-bit formats with a 16-bit opcode (RRE, RRF, RRD) have R1 and
// R2 in the last byte.

#pragma once

#include "../effect_list.h"
#include "sframe/code/instruction.h"

#include <array>
#include <cstdint>

namespace sframe::code::s390x {

inline constexpr std::uint8_t link_register = 14;
inline constexpr std::uint8_t num_general = 16;
/// Not a machine register: a jump through memory loads its target here.
inline constexpr std::uint8_t scratch = 32;

/// The DWARF number of a floating point register (ELF ABI s390x Supplement, section "DWARF definition").
constexpr std::uint8_t fpr(unsigned number) {
  constexpr std::array<std::uint8_t, 16> numbers = {16, 20, 17, 21, 18, 22, 19, 23,
                                                    24, 28, 25, 29, 26, 30, 27, 31};
  return numbers[number & 15];
}

/// A memory operand: base + displacement, and optionally an index. A base or index of 0 means none.
struct Address {
  std::uint8_t base = Effect::none;
  std::uint8_t index = Effect::none;
  std::int64_t displacement = 0;

  bool has_base() const { return base != Effect::none; }
  bool has_index() const { return index != Effect::none; }
};

/// An instruction's bytes, left-aligned in 48 bits.
struct Word {
  std::uint64_t bits = 0;

  constexpr unsigned field(unsigned first, unsigned width) const {
    return static_cast<unsigned>(bits >> (48 - first - width)) & ((1u << width) - 1);
  }
  /// A field of up to 32 bits as a two's complement number.
  constexpr std::int64_t signed_field(unsigned first, unsigned width) const {
    return static_cast<std::int64_t>(bits << (16 + first)) >> (64 - width);
  }
  constexpr std::uint8_t byte(unsigned at) const { return static_cast<std::uint8_t>(field(8 * at, 8)); }
  constexpr std::uint8_t reg(unsigned first) const { return static_cast<std::uint8_t>(field(first, 4)); }

  /// R1, R2 and R3 by format: RRE and the like, or any other.
  constexpr bool is_rre() const { return byte(0) == 0xb2 || byte(0) == 0xb3 || byte(0) == 0xb9; }
  constexpr std::uint8_t r1() const { return reg(is_rre() ? 24 : 8); }
  constexpr std::uint8_t r2() const { return reg(is_rre() ? 28 : 12); }
  constexpr std::uint8_t r3() const { return reg(is_rre() ? 16 : 12); }

  /// A base and a displacement from bit 16 on: 12 bits, or 20 (RSY, SIY).
  constexpr Address address(bool is_long) const {
    const auto base = reg(16);
    const std::int64_t displacement =
        is_long ? (signed_field(32, 8) << 12) | field(20, 12) : static_cast<std::int64_t>(field(20, 12));
    return {base ? base : Effect::none, Effect::none, displacement};
  }
  /// The same with an index in bits 12 to 15 (RX, RXY, RXE, VRX). An index without a base becomes the base.
  constexpr Address indexed_address(bool is_long) const {
    Address result = address(is_long);
    const auto index = reg(12);
    if (index == 0) return result;
    (result.has_base() ? result.index : result.base) = index;
    return result;
  }
};

/// The arguments of an instruction's handler.
struct Context {
  Word word;
  std::uint8_t argument; ///< of the instruction's row in the table of opcodes
  Instruction& instruction;
  EffectList& effects;
  std::span<const std::byte> code; ///< from the instruction on

  /// The address `halfwords` halfwords away.
  std::uint64_t relative(std::int64_t halfwords) const {
    return instruction.address + static_cast<std::uint64_t>(halfwords) * 2;
  }
  std::uint64_t next() const { return instruction.address + instruction.length; }
};

using Handler = void (*)(const Context& context);

} // namespace sframe::code::s390x
