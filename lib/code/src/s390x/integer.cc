// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64-bit arithmetic that sets up frames, allocates on the stack, or computes the index of a jump table.
// (32-bit instructions keep the upper half of their register, so they clobber.)

#include "handlers.h"

namespace sframe::code::s390x {
namespace {

/// r1 := r2 + r3 * factor; r1 may be either of them.
void add(const Context& context, std::uint8_t r1, std::uint8_t r2, std::uint8_t r3, std::int64_t factor) {
  EffectList& effects = context.effects;
  if (r1 == r3 && r1 != r2) {
    effects.set(scratch, r3, 0);
    r3 = scratch;
  }
  if (r1 != r2) effects.set(r1, r2, 0);
  effects.add(r1, r3, factor);
}

void multiply(const Context& context, std::uint8_t to, std::uint8_t from, unsigned shift) {
  const std::int64_t factor = std::int64_t{1} << shift;
  if (to == from) {
    if (shift) context.effects.add(to, to, factor - 1);
    return;
  }
  if (shift == 0) return context.effects.set(to, from, 0);
  context.effects.set_constant(to, 0);
  context.effects.add(to, from, factor);
}

/// Clears the bits that are 0 in the immediate, which has `width` bits at `shift`; keeps all others.
void keep_bits(const Context& context, std::uint64_t imm, unsigned width, unsigned shift) {
  const std::uint64_t all = (std::uint64_t{1} << width) - 1;
  context.effects.mask(context.word.r1(), static_cast<std::int64_t>(~((all & ~imm) << shift)));
  context.effects.lose_flags();
}

std::int64_t shifted(std::uint64_t imm, unsigned shift) {
  return static_cast<std::int64_t>(imm << shift);
}

} // namespace

void load_address(const Context& context) {
  const Word word = context.word;
  const Address of = word.indexed_address(word.byte(0) == 0xe3);
  const std::uint8_t r1 = word.r1();
  if (!of.has_index()) return context.effects.set(r1, of.base, of.displacement);
  const bool index_goes = of.index == r1; // the sum is commutative
  const std::uint8_t first = index_goes ? of.index : of.base;
  add(context, r1, first, index_goes ? of.base : of.index, 1);
  if (of.displacement) context.effects.set(r1, r1, of.displacement);
}

void load_address_relative(const Context& context) {
  context.effects.set_constant(
      context.word.r1(), static_cast<std::int64_t>(context.relative(context.word.signed_field(16, 32))));
}

void move(const Context& context) {
  context.effects.set(context.word.r1(), context.word.r2(), 0);
}

void move_narrow_unsigned(const Context& context) {
  context.effects.set_narrow(context.word.r1(), context.word.r2(), 0, context.argument, false);
}

void move_narrow_signed(const Context& context) {
  context.effects.set_narrow(context.word.r1(), context.word.r2(), 0, context.argument, true);
}

void move_and_test(const Context& context) {
  move(context);
  context.effects.lose_flags();
}

void move_to_float(const Context& context) {
  context.effects.set(fpr(context.word.r1()), context.word.r2(), 0);
}

void move_from_float(const Context& context) {
  context.effects.set(context.word.r1(), fpr(context.word.r2()), 0);
}

void move_float(const Context& context) {
  context.effects.set(fpr(context.word.r1()), fpr(context.word.r2()), 0);
}

void load_immediate(const Context& context) {
  context.effects.set_constant(context.word.r1(), context.word.signed_field(16, context.argument));
}

void load_logical_immediate(const Context& context) {
  context.effects.set_constant(context.word.r1(), shifted(context.word.field(16, 16), context.argument));
}

void load_logical_immediate_long(const Context& context) {
  const auto imm = static_cast<std::uint32_t>(context.word.signed_field(16, 32));
  context.effects.set_constant(context.word.r1(), shifted(imm, context.argument));
}

void add_immediate(const Context& context) {
  const std::uint8_t r1 = context.word.r1();
  std::int64_t imm = context.word.signed_field(16, context.argument);
  const bool is_logical = context.word.byte(0) == 0xc2 && context.word.field(12, 4) == 0xa; // algfi
  if (is_logical) imm = static_cast<std::uint32_t>(imm);
  context.effects.set(r1, r1, imm);
  context.effects.lose_flags();
}

void subtract_immediate(const Context& context) {
  const auto imm = static_cast<std::uint32_t>(context.word.signed_field(16, 32));
  context.effects.set(context.word.r1(), context.word.r1(), -static_cast<std::int64_t>(imm));
  context.effects.lose_flags();
}

void add_immediate_distinct(const Context& context) {
  context.effects.set(context.word.r1(), context.word.r3(), context.word.signed_field(16, 16));
  context.effects.lose_flags();
}

void add_register(const Context& context) {
  context.effects.add(context.word.r1(), context.word.r2(), 1);
  context.effects.lose_flags();
}

/// LLVM adds the entry of a jump table to the table's address in one instruction.
void add_memory(const Context& context) {
  const Address from = context.word.indexed_address(true);
  const std::uint8_t r1 = context.word.r1();
  context.effects.lose_flags();
  if (!from.has_index()) return context.effects.clobber(r1);
  context.effects.append({.kind = Effect::Kind::load_table,
                          .reg = scratch,
                          .source = from.base,
                          .index = from.index,
                          .size = context.argument,
                          .scale = 1,
                          .is_signed = context.argument != 8,
                          .value = from.displacement});
  context.effects.add(r1, scratch, 1);
}

/// `lr %r15,%r15` and the like: valgrind's requests start with four of these.
void combine_same(const Context& context) {
  constexpr unsigned lr = 0x18;
  if (context.word.r1() != context.word.r2()) context.effects.clobber(context.word.r1());
  if (context.word.byte(0) != lr) context.effects.lose_flags();
}

void subtract_register(const Context& context) {
  context.effects.add(context.word.r1(), context.word.r2(), -1);
  context.effects.lose_flags();
}

/// gcc allocates on the stack by it, where the size has been spilled.
void subtract_memory(const Context& context) {
  const Address from = context.word.indexed_address(true);
  const std::uint8_t r1 = context.word.r1();
  context.effects.lose_flags();
  if (from.has_index()) return context.effects.clobber(r1);
  context.effects.load(scratch, from.base, from.displacement);
  context.effects.add(r1, scratch, -1);
}

void add_register_distinct(const Context& context) {
  add(context, context.word.r1(), context.word.r2(), context.word.r3(), 1);
  context.effects.lose_flags();
}

void subtract_register_distinct(const Context& context) {
  add(context, context.word.r1(), context.word.r2(), context.word.r3(), -1);
  context.effects.lose_flags();
}

void and_immediate(const Context& context) {
  keep_bits(context, context.word.field(16, 16), 16, context.argument);
}

void and_immediate_long(const Context& context) {
  keep_bits(context, static_cast<std::uint32_t>(context.word.signed_field(16, 32)), 32, context.argument);
}

void shift_left(const Context& context) {
  const Address amount = context.word.address(true);
  if (amount.has_base() || (amount.displacement & 63) == 63)
    context.effects.clobber(context.word.r1());
  else
    multiply(context, context.word.r1(), context.word.r3(), static_cast<unsigned>(amount.displacement) & 63);
}

/// Rotates R2 left by I5 and keeps its bits I3 to I4, surrounded by zeros if the first bit of I4 is set.
/// Exact if no bit that wraps around is kept: a left shift and a mask.
void rotate_and_insert(const Context& context) {
  const Word word = context.word;
  const unsigned first = word.byte(2) & 63, last = word.byte(3) & 63, rotation = word.byte(4) & 63;
  const bool zeros = word.byte(3) & 0x80;
  if (word.byte(5) == 0x55) context.effects.lose_flags(); // risbg; risbgn leaves them
  if (!zeros || first > last || last + rotation > 63 || rotation == 63)
    return context.effects.clobber(word.r1());
  multiply(context, word.r1(), word.r2(), rotation);
  const std::uint64_t mask = (~std::uint64_t{0} >> first) & (~std::uint64_t{0} << (63 - last));
  context.effects.mask(word.r1(), static_cast<std::int64_t>(mask));
}

void compare_logical_register(const Context& context) {
  context.effects.compare_registers(context.word.r1(), context.word.r2());
}

void compare_logical_immediate(const Context& context) {
  const auto imm = static_cast<std::uint32_t>(context.word.signed_field(16, 32));
  context.effects.compare(context.word.r1(), imm);
}

/// The result is in f0, or in f0 and f2.
void perform_float_operation(const Context& context) {
  context.effects.clobber(fpr(0));
  context.effects.clobber(fpr(2));
  context.effects.lose_flags();
}

} // namespace sframe::code::s390x
