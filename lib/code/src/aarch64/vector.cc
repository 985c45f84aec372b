// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating point, Advanced SIMD, SVE and SME: only their effects on general registers matter. Few of these
// instructions write one, always the one in bits 4 to 0; 31 is the zero register in all but the stack
// arithmetic of SVE. The list must be exact: it would be wrong to clobber that register for the others, since
// 30 may be v30, not the return address.
//
// Stores of SVE are omitted: their addresses depend on the vector length, which is unknown before run time,
// and they write only what a predicate enables.

#include "encoding.h"

#include <algorithm>
#include <array>

namespace sframe::code::aarch64 {
namespace {

struct Pattern {
  std::uint32_t mask;
  std::uint32_t value;
};

constexpr std::array scalar_to_general = {
    Pattern{0x7f26'fc00, 0x1e20'0000}, // fcvt[nmpz][su]
    Pattern{0x7f3e'fc00, 0x1e24'0000}, // fcvta[su]
    Pattern{0x7f3f'fc00, 0x1e26'0000}, // fmov
    Pattern{0xffff'fc00, 0x9eae'0000}, // fmov from the upper half of a vector
    Pattern{0xffff'fc00, 0x1e7e'0000}, // fjcvtzs
    Pattern{0x7f3e'0000, 0x1e18'0000}, // fcvtz[su] to fixed point
    Pattern{0xbfe0'ec00, 0x0e00'2c00}, // smov, umov
};

constexpr std::array scalable_to_general = {
    Pattern{0xffff'f000, 0x04bf'5000}, // rdvl, rdsvl
    Pattern{0xff20'e000, 0x0420'e000}, // cnt[bhwd], inc..., dec..., saturating or not
    Pattern{0xff2e'e000, 0x0520'a000}, // lasta, lastb, clasta, clastb
    Pattern{0xff3c'c000, 0x2520'8000}, // cntp, firstp, lastp
    Pattern{0xff38'f800, 0x2528'8800}, // incp, decp, saturating or not
    Pattern{0xffff'8fe0, 0xc04c'03e0}, // movt
};

/// addvl, addpl: 31 is SP.
constexpr Pattern add_vector_lengths = {0xffa0'f800, 0x0420'5000};
/// addsvl, addspl: the same with the length in streaming mode, which may be another.
constexpr Pattern add_streaming_lengths = {0xffa0'f800, 0x0420'5800};

constexpr std::array to_flags = {
    Pattern{0x5f20'3c00, 0x1e20'2000}, // fcmp, fcmpe
    Pattern{0x5f20'0c00, 0x1e20'0400}, // fccmp, fccmpe
};

bool matches(Word word, const Pattern& pattern) {
  return word.is(pattern.mask, pattern.value);
}

void decode_add_lengths(Word word, EffectList& effects) {
  constexpr std::int64_t eighths_of_vector = 8; // of a predicate: 1
  const auto source = static_cast<std::uint8_t>(word.field(20, 16));
  effects.add_vectors(word.rd(), source, word.signed_field(10, 5) * (word.bit(22) ? 1 : eighths_of_vector));
}

template <std::size_t n> bool matches_any(Word word, const std::array<Pattern, n>& patterns) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return matches(word, pattern); });
}

} // namespace

void decode_vector(Word word, EffectList& effects) {
  const bool is_scalable = !word.bit(27);
  if (!is_scalable) {
    if (matches_any(word, to_flags)) effects.lose_flags();
    if (matches_any(word, scalar_to_general)) clobber_general(effects, word.rd());
    return;
  }
  effects.lose_flags(); // most that write predicates
  if (matches(word, add_vector_lengths))
    decode_add_lengths(word, effects);
  else if (matches(word, add_streaming_lengths))
    effects.clobber(word.rd());
  else if (matches_any(word, scalable_to_general))
    clobber_general(effects, word.rd());
}

} // namespace sframe::code::aarch64
