// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "exits.h"

#include "values.h"

#include <algorithm>

namespace sframe::code {

bool returns_by_jump(const Instruction& instruction, const State& state, const AbiTraits& abi) {
  if (instruction.flow != Flow::indirect_jump && instruction.flow != Flow::indirect_branch) return false;
  const bool is_on_stack = abi.fixed_ra_offset != 0; // a jump through memory loads into RA's column
  if (is_on_stack && instruction.jump_register == abi.ra) return false;
  return instruction.jump_register != Effect::none &&
         state.reg(instruction.jump_register) == Value::entry(abi.ra);
}

bool jumps_like_return(const Instruction& instruction, const State& state, const Subject& subject) {
  if (instruction.jump_register == Effect::none) return false;
  const Value to = state.reg(instruction.jump_register);
  return to.base == Value::Base::table ||
         (is_number(to) && subject.contains(number_of(to, subject.function.start)));
}

Value return_address(const Instruction& instruction, const State& state, const AbiTraits& abi) {
  if (abi.fixed_ra_offset != 0 && !returns_by_jump(instruction, state, abi))
    return state.word(state.reg(abi.sp));
  return state.reg(instruction.jump_register == Effect::none ? abi.ra : instruction.jump_register);
}

Exit exit_of_return(const Instruction& instruction, const State& state, const Subject& subject) {
  const AbiTraits& abi = subject.abi;
  const Value sp = state.reg(abi.sp), wanted = Value::entry(abi.ra);
  const bool pops = abi.fixed_ra_offset != 0, has_popped = pops && returns_by_jump(instruction, state, abi);
  const Value ra = return_address(instruction, state, abi);
  if (sp.base == Value::Base::conflict || sp.base == Value::Base::symbol || ra.base == Value::Base::unknown ||
      ra.base == Value::Base::conflict)
    return Exit::returns_unknown;
  const bool height_is_right = sp == Value::cfa(has_popped ? 0 : -abi.entry_cfa_offset);
  if (height_is_right && authenticated(ra) == wanted) return Exit::returns;
  // push, ret: a jump. So is a return whose address the function has replaced.
  const bool is_replaced = height_is_right && !subject.has_rows();
  const bool is_pushed = plus(sp, 8) == Value::cfa(-abi.entry_cfa_offset);
  if (pops && !has_popped && state.last_store == sp && (is_replaced || is_pushed))
    return Exit::indirect_tail_call;
  // A return by another register, as Go's wrappers of methods jump (AArch64).
  const bool is_jump =
      !pops && instruction.jump_register != Effect::none && instruction.jump_register != abi.ra;
  if (is_jump && is_entry_like(state, abi)) return Exit::indirect_tail_call;
  return Exit::returns_wrong;
}

bool is_system_call(const Instruction& instruction, const State& state, std::span<const std::int32_t> calls) {
  const auto is_in = [&](std::int32_t number) { return std::ranges::find(calls, number) != calls.end(); };
  if (instruction.system_call >= 0) return is_in(instruction.system_call);
  if (instruction.system_call_register == Effect::none) return false;
  const Value number = state.reg(instruction.system_call_register);
  return number.base == Value::Base::constant && is_in(number.offset);
}

} // namespace sframe::code
