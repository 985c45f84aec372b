// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores. A word is 64 bits, of a general or floating point register (gcc keeps r14 and others in
// floating point registers in leaf functions, and saves call-saved ones). A store of fewer or more bytes
// overwrites. A store at base + index has an unknown address: it is assumed not to hit saved registers.

#include "handlers.h"

#include <algorithm>

namespace sframe::code::s390x {
namespace {

constexpr std::uint8_t word_bytes = 8;

/// Formats RXY, RSY and SIY have 20-bit displacements. With opcode 0xed only a few are RXY: ldy, stdy, ...
bool has_long_displacement(Word word) {
  const bool is_float_rxy = word.byte(0) == 0xed && (word.byte(5) & 0xfc) == 0x64;
  return word.byte(0) == 0xe3 || word.byte(0) == 0xeb || is_float_rxy;
}

Address indexed(const Context& context) {
  return context.word.indexed_address(has_long_displacement(context.word));
}

Address based(const Context& context) {
  return context.word.address(has_long_displacement(context.word));
}

void overwrite(const Context& context, const Address& to, unsigned bytes) {
  if (!to.has_base() || to.has_index()) return;
  constexpr unsigned most = 0xff;
  for (unsigned done = 0; done < bytes; done += most)
    context.effects.overwrite(static_cast<std::uint8_t>(std::min(bytes - done, most)), to.base,
                              to.displacement + done);
}

std::uint8_t word_register(const Context& context) {
  return context.argument ? fpr(context.word.r1()) : context.word.r1();
}

void load_narrow(const Context& context, bool is_signed) {
  const Address from = indexed(context);
  if (!from.has_index()) return context.effects.clobber(context.word.r1());
  context.effects.append({.kind = Effect::Kind::load_table,
                          .reg = context.word.r1(),
                          .source = from.base,
                          .index = from.index,
                          .size = context.argument,
                          .scale = 1,
                          .is_signed = is_signed,
                          .value = from.displacement});
}

/// The number of registers from R1 to R3; the range wraps to 0.
unsigned range_size(Word word) {
  return (word.r3() - word.r1() + num_general) % num_general + 1;
}

std::uint8_t in_range(Word word, unsigned at) {
  return static_cast<std::uint8_t>((word.r1() + at) % num_general);
}

} // namespace

void store_word(const Context& context) {
  const Address to = indexed(context);
  if (to.has_base() && !to.has_index())
    context.effects.store(word_register(context), to.base, to.displacement);
}

void load_word(const Context& context) {
  const Address from = indexed(context);
  const std::uint8_t reg = word_register(context);
  if (!from.has_base())
    context.effects.clobber(reg);
  else if (!from.has_index())
    context.effects.load(reg, from.base, from.displacement);
  else if (reg >= num_general)
    context.effects.clobber(reg);
  else
    context.effects.append({.kind = Effect::Kind::load_table,
                            .reg = reg,
                            .source = from.base,
                            .index = from.index,
                            .size = word_bytes,
                            .scale = 1,
                            .value = from.displacement});
}

void load_narrow_unsigned(const Context& context) {
  load_narrow(context, false);
}
void load_narrow_signed(const Context& context) {
  load_narrow(context, true);
}

void store_bytes(const Context& context) {
  overwrite(context, indexed(context), context.argument);
}
void store_bytes_based(const Context& context) {
  overwrite(context, based(context), context.argument);
}

void store_multiple_words(const Context& context) {
  const Address to = based(context);
  if (!to.has_base()) return;
  for (unsigned i = 0; i < range_size(context.word); ++i)
    context.effects.store(in_range(context.word, i), to.base, to.displacement + i * word_bytes);
}

void load_multiple_words(const Context& context) {
  const Address from = based(context);
  const Word word = context.word;
  const unsigned count = range_size(word);
  if (!from.has_base()) return load_multiple(context);
  // The base is loaded last, since the other loads need it.
  unsigned base_at = count;
  for (unsigned i = 0; i < count; ++i) {
    if (in_range(word, i) == from.base)
      base_at = i;
    else
      context.effects.load(in_range(word, i), from.base, from.displacement + i * word_bytes);
  }
  if (base_at != count) context.effects.load(from.base, from.base, from.displacement + base_at * word_bytes);
}

void store_multiple(const Context& context) {
  overwrite(context, based(context), range_size(context.word) * context.argument);
}

void load_multiple(const Context& context) {
  for (unsigned i = 0; i < range_size(context.word); ++i) context.effects.clobber(in_range(context.word, i));
}

void load_multiple_vectors(const Context& context) {
  const bool first_is_high = context.word.field(36, 1) != 0;
  const bool last_is_high = context.word.field(37, 1) != 0;
  if (first_is_high && last_is_high) return; // v16 to v31 do not contain floating point registers
  for (unsigned i = 0; i < num_general; ++i) context.effects.clobber(fpr(i));
}

void store_pair(const Context& context) {
  const Address to = indexed(context);
  if (!to.has_base() || to.has_index()) return;
  for (unsigned i = 0; i < 2; ++i)
    context.effects.store(in_range(context.word, i), to.base, to.displacement + i * word_bytes);
}

void load_pair(const Context& context) {
  for (unsigned i = 0; i < 2; ++i) context.effects.clobber(in_range(context.word, i));
}

void store_string(const Context& context) {
  overwrite(context, based(context), context.word.byte(1) + 1u);
}

void store_decimal(const Context& context) {
  overwrite(context, based(context), context.word.field(8, 4) + 1);
}

} // namespace sframe::code::s390x
