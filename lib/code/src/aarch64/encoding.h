// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common definitions of this decoder: the fields of an instruction word, and one function for each part of
// the architecture's top level of encodings (bits 28 to 25).

#pragma once

#include "../effect_list.h"
#include "sframe/code/instruction.h"

#include <cstdint>

namespace sframe::code::aarch64 {

inline constexpr std::uint8_t sp = 31;
inline constexpr std::uint8_t zero_register = 31; ///< if an encoding uses 31 for XZR or WZR
inline constexpr std::uint8_t frame_pointer = 29;
inline constexpr std::uint8_t link_register = 30;
/// Not a machine register: holds the intermediate value of an instruction that shifts or extends its second
/// operand before adding it.
inline constexpr std::uint8_t scratch = 32;

/// Keys of pointer authentication, as in Effect::index.
inline constexpr std::uint8_t key_a = 0, key_b = 1;

/// An instruction word. Named fields are at the same position in (nearly) all encodings.
struct Word {
  std::uint32_t bits;

  constexpr std::uint32_t field(unsigned high, unsigned low) const {
    return (bits >> low) & ((1u << (high - low + 1)) - 1);
  }
  constexpr bool bit(unsigned at) const { return (bits >> at) & 1; }
  constexpr bool is(std::uint32_t mask, std::uint32_t value) const { return (bits & mask) == value; }
  /// A field that is a two's complement number.
  constexpr std::int64_t signed_field(unsigned high, unsigned low) const {
    const unsigned width = high - low + 1;
    const auto value = static_cast<std::int64_t>(field(high, low));
    return value - (((value >> (width - 1)) & 1) << width);
  }
  constexpr std::uint8_t rd() const { return static_cast<std::uint8_t>(field(4, 0)); } ///< also Rt
  constexpr std::uint8_t rn() const { return static_cast<std::uint8_t>(field(9, 5)); }
  constexpr std::uint8_t rt2() const { return static_cast<std::uint8_t>(field(14, 10)); }
  constexpr std::uint8_t rm() const { return static_cast<std::uint8_t>(field(20, 16)); } ///< also Rs
  constexpr bool is_64bit() const { return bit(31); }
};

/// A clobber of a general register, for encodings in which 31 is not SP.
inline void clobber_general(EffectList& effects, std::uint8_t reg) {
  if (reg != zero_register) effects.clobber(reg);
}

/// Branches, exceptions and system instructions (bits 28 to 26: 101). False if unallocated.
bool decode_branch(Word word, Instruction& instruction, EffectList& effects);

/// Data processing with an immediate (bits 28 to 26: 100).
void decode_immediate(Word word, std::uint64_t address, EffectList& effects);

/// Data processing with registers (bits 27 to 25: 101).
void decode_register(Word word, EffectList& effects);

/// Loads and stores (bit 27: 1, bit 25: 0).
void decode_memory(Word word, EffectList& effects);

/// Floating point, Advanced SIMD (bits 27 to 25: 111), SVE (bits 28 to 25: 0010) and SME (0000, with bit 31):
/// only their effects on general registers.
void decode_vector(Word word, EffectList& effects);

} // namespace sframe::code::aarch64
