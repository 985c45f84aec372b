// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches (Principles of Operation, chapters 5 and 7). A call is a jump that saves the return address in a
// register; the ABI's is r14, and `br %r14` returns. A branch with mask 0 is a nop, with 15 it is
// unconditional. Compilers write a trap as a branch into its own middle, which is not an instruction.

#include "handlers.h"

#include <algorithm>
#include <array>

namespace sframe::code::s390x {
namespace {

constexpr unsigned never = 0, always = 15;

/// The condition of a mask after an unsigned compare. Its bits: equal, low, high, and one that a compare
/// never sets.
Condition condition_of(unsigned mask) {
  constexpr std::array<Condition, 8> by_mask = {
      Condition::other, Condition::above,          Condition::below,          Condition::not_equal,
      Condition::equal, Condition::above_or_equal, Condition::below_or_equal, Condition::other,
  };
  return by_mask[mask >> 1];
}

void go_relative(const Context& context, unsigned mask, std::int64_t halfwords) {
  Instruction& instruction = context.instruction;
  const bool into_itself = halfwords == 1;
  if (mask == never) return;
  if (into_itself) {
    if (mask == always) instruction.flow = Flow::stop;
    return;
  }
  instruction.is_nop = halfwords == 0 && mask == always; // after the jump of a thunk
  instruction.flow = mask == always ? Flow::jump : Flow::branch;
  instruction.target = context.relative(halfwords);
  if (mask != always) instruction.condition = condition_of(mask);
}

/// A branch to the address in a register (none: to an unknown address).
void go_indirect(const Context& context, unsigned mask, std::uint8_t reg) {
  Instruction& instruction = context.instruction;
  if (mask == never) return;
  const bool returns = reg == link_register;
  if (mask == always)
    instruction.flow = returns ? Flow::ret : Flow::indirect_jump;
  else
    instruction.flow = returns ? Flow::conditional_return : Flow::indirect_branch;
  instruction.jump_register = reg;
}

/// The register that holds an address, if the address is just a register.
std::uint8_t register_of(const Address& address) {
  return address.has_index() || address.displacement != 0 ? Effect::none : address.base;
}

void call_indirect(const Context& context, std::uint8_t reg) {
  context.instruction.flow = Flow::indirect_call;
  context.instruction.link_register = context.word.r1();
  context.instruction.jump_register = reg;
}

void count_down(const Context& context) {
  const std::uint8_t counter = context.word.r1();
  if (context.argument == 8)
    context.effects.set(counter, counter, -1);
  else
    context.effects.clobber(counter);
}

} // namespace

void branch_register(const Context& context) {
  const unsigned mask = context.word.field(8, 4);
  const std::uint8_t reg = context.word.r2();
  if (reg == 0 || mask == never)
    context.instruction.is_nop = mask == never;
  else
    go_indirect(context, mask, reg);
}

void branch_memory(const Context& context) {
  const unsigned mask = context.word.field(8, 4);
  context.instruction.is_nop = mask == never;
  const Address to = context.word.indexed_address(false);
  if (mask == never || !to.has_index()) return go_indirect(context, mask, register_of(to));
  // The base of a jump table and a distance from it.
  context.effects.set(scratch, to.base, to.displacement);
  context.effects.add(scratch, to.index, 1);
  go_indirect(context, mask, scratch);
}

void branch_indirect(const Context& context) {
  const Address from = context.word.indexed_address(true);
  if (from.has_index())
    context.effects.append({.kind = Effect::Kind::load_table,
                            .reg = scratch,
                            .source = from.base,
                            .index = from.index,
                            .size = 8,
                            .scale = 1,
                            .value = from.displacement});
  else if (from.has_base())
    context.effects.load(scratch, from.base, from.displacement);
  else
    context.effects.clobber(scratch);
  go_indirect(context, context.word.field(8, 4), scratch);
}

/// Padding is a branch to itself that is never taken. With another target it is a jump label of the Linux
/// kernel, which may become a jump at run time.
void branch_relative(const Context& context) {
  const unsigned mask = context.word.field(8, 4);
  const std::int64_t halfwords = context.word.signed_field(16, context.argument);
  if (mask != never) return go_relative(context, mask, halfwords);
  context.instruction.is_nop = true;
  if (context.argument != 32 || halfwords == 0 || context.relative(halfwords) == context.next()) return;
  context.instruction.is_nop = false;
  context.instruction.flow = Flow::patchable;
  context.instruction.target = context.relative(halfwords);
}

void branch_and_save(const Context& context) {
  if (const std::uint8_t reg = context.word.r2())
    call_indirect(context, reg);
  else // only gets its own address
    context.effects.set_constant(context.word.r1(), static_cast<std::int64_t>(context.next()));
}

void branch_and_save_memory(const Context& context) {
  call_indirect(context, register_of(context.word.indexed_address(false)));
}

void call_relative(const Context& context) {
  Instruction& instruction = context.instruction;
  const std::uint8_t link = context.word.r1();
  instruction.target = context.relative(context.word.signed_field(16, context.argument));
  const bool skips_literals = context.argument == 16 && link != link_register;
  if (skips_literals) { // bras %r13 over a literal pool: does not return
    instruction.flow = Flow::jump;
    instruction.link_register = link;
    context.effects.set_constant(link, static_cast<std::int64_t>(context.next()));
  } else {
    instruction.flow = Flow::call;
    instruction.link_register = link;
  }
}

void branch_on_count(const Context& context) {
  const std::uint8_t reg = context.word.r2();
  if (reg != 0 && reg != context.word.r1()) {
    count_down(context);
    return go_indirect(context, always - 1, reg);
  }
  count_down(context);
  if (reg != 0) go_indirect(context, always - 1, Effect::none); // to the counter's old value
}

void branch_on_count_memory(const Context& context) {
  context.effects.clobber(context.word.r1());
  go_indirect(context, always - 1, Effect::none);
}

void branch_relative_on_count(const Context& context) {
  count_down(context);
  context.instruction.flow = Flow::branch;
  context.instruction.target = context.relative(context.word.signed_field(16, 16));
}

void branch_relative_on_index(const Context& context) {
  context.effects.clobber(context.word.r1());
  const bool is_long = context.word.byte(0) == 0xcc; // brcth
  context.instruction.flow = Flow::branch;
  context.instruction.target = context.relative(context.word.signed_field(16, is_long ? 32 : 16));
}

void set_mode_and_branch(const Context& context) {
  if (context.word.r1() != 0) context.effects.clobber(context.word.r1());
  if (context.word.r2() != 0) go_indirect(context, always, context.word.r2());
}

// Compare-and-branch instructions leave the condition code alone. Translating them as a compare and a branch
// is right for this branch. It is wrong only for a later one that tests an older compare, which compilers do
// not generate.

void compare_and_branch_relative(const Context& context) {
  const unsigned mask = context.word.field(32, 4) & ~1u;
  if (context.argument == unsigned_operands)
    context.effects.compare_registers(context.word.r1(), context.word.r2());
  go_relative(context, mask == 14 ? always : mask, context.word.signed_field(16, 16));
  if (context.argument == signed_operands) context.instruction.condition = Condition::other;
}

void compare_immediate_and_branch_relative(const Context& context) {
  const unsigned mask = context.word.field(12, 4) & ~1u;
  if (context.argument == unsigned_operands) context.effects.compare(context.word.r1(), context.word.byte(4));
  go_relative(context, mask == 14 ? always : mask, context.word.signed_field(16, 16));
  if (context.argument == signed_operands) context.instruction.condition = Condition::other;
}

void compare_and_branch(const Context& context) {
  const unsigned mask = context.word.field(context.argument, 4) & ~1u;
  go_indirect(context, mask == 14 ? always : mask, register_of(context.word.address(false)));
}

void supervisor_call(const Context& context) {
  constexpr unsigned in_register = 0, exit = 1, sigreturn = 119, rt_sigreturn = 173, exit_group = 248;
  const unsigned number = context.word.byte(1);
  if (number != in_register) context.instruction.system_call = static_cast<std::int16_t>(number);
  if (number == exit || number == exit_group || number == sigreturn || number == rt_sigreturn) {
    context.instruction.flow = Flow::stop;
    return;
  }
  if (number == in_register) context.instruction.system_call_register = 1;
  context.effects.clobber(2); // the result; Linux keeps all others
}

/// Monitor call. Linux uses `mc 0,0` for BUG, which does not return, and for WARN, which does.
void monitor_call(const Context& context) {
  context.instruction.flow = Flow::trap;
}

/// How far away the instruction is that a thunk executes. ex, before z10, has its address in a register: it
/// is taken for the one after an endless loop, which follows in no other code.
std::uint64_t distance_in_thunk(const Context& context) {
  constexpr unsigned relative_opcode = 0xc6, bytes = 4;
  if (context.word.byte(0) == relative_opcode)
    return context.relative(context.word.signed_field(16, 32)) - context.instruction.address;
  constexpr std::array loop = {std::byte{0xa7}, std::byte{0xf4}, std::byte{0}, std::byte{0}}; // j .
  const Address place = context.word.indexed_address(false);
  const bool is_thunk = place.has_base() && !place.has_index() && place.displacement == 0 &&
                        context.code.size() >= bytes + loop.size() &&
                        std::ranges::equal(context.code.subspan(bytes, loop.size()), loop);
  return is_thunk ? bytes + loop.size() : context.code.size();
}

/// The execution, without changes, of a branch to a register, which follows near: how thunks jump (gcc
/// -mindirect-branch=thunk): `exrl %r0,1f; j .; 1: br %r2`, or `larl %r1,1f; ex %r0,0(%r1)`.
bool jump_of_thunk(const Context& context) {
  constexpr unsigned branch_opcode = 7, branch_bytes = 2;
  if (context.word.r1() != 0) return false;
  const std::uint64_t distance = distance_in_thunk(context);
  if (distance >= context.code.size() || context.code.size() - distance < branch_bytes) return false;
  const auto byte = [&](std::uint64_t at) { return std::to_integer<unsigned>(context.code[distance + at]); };
  const auto reg = static_cast<std::uint8_t>(byte(1) & 15);
  if (byte(0) != branch_opcode || reg == 0) return false;
  go_indirect(context, byte(1) >> 4, reg);
  return true;
}

void execute(const Context& context) {
  if (jump_of_thunk(context)) return;
  // The executed instruction is elsewhere, and the analysis looks for it. Compilers use this for mvc, xc and
  // similar with a length in a register, which write memory through pointers, and trt, which writes r1 and
  // r2.
  constexpr unsigned relative = 0xc6; // exrl
  context.instruction.executes = context.word.r1() == 0 ? Executes::unchanged : Executes::changed;
  if (context.word.byte(0) == relative) {
    context.instruction.target = context.relative(context.word.signed_field(16, 32));
  } else {
    const Address place = context.word.indexed_address(false);
    context.effects.set(scratch, place.base, place.displacement);
    if (place.has_index()) context.effects.add(scratch, place.index, 1);
    context.instruction.executed_at = scratch;
  }
  context.effects.clobber(1);
  context.effects.clobber(2);
  context.effects.lose_flags();
}

void stop(const Context& context) {
  context.instruction.flow = Flow::stop;
}

} // namespace sframe::code::s390x
