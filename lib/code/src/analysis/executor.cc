// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions after which control may go elsewhere: first their effects, then the edges to other places,
// then whether control reaches the next one.

#include "executor.h"

#include "branch.h"

#include <algorithm>

namespace sframe::code {
namespace {

bool writes_register(const Effect& effect) {
  return effect.kind != Effect::Kind::store && effect.kind != Effect::Kind::overwrite &&
         effect.kind != Effect::Kind::compare;
}

} // namespace

/// step(), for instructions after which control may go elsewhere than to the next one.
bool Executor::step_control(std::uint32_t index, State& state, Edges* edges) {
  const Instruction& instruction = code_[index].instruction;
  if (edges && instruction.executes != Executes::nothing)
    if (const auto address = executed_by(index, state)) code_.execute(index, *address);
  const bool is_call = calls_system(instruction);
  if (is_call && is_system_call(instruction, state, subject_.machine.last_system_calls)) return false;
  const bool may_switch_stack = is_call && is_thread_start(instruction, state);
  transfer_.apply(index, code_[index], state);
  if (may_switch_stack) {
    const std::uint64_t next = instruction.address + instruction.length;
    if (edges && subject_.contains(next)) edges->guess(std::span(&next, 1), state, index);
    return false;
  }
  if (edges) {
    leave(index, state, *edges);
    if (edges->must_restart()) return false;
  }
  return continues(index, state, edges);
}

/// Where the instruction is that this one executes, if the state before it shows that.
std::optional<std::uint64_t> Executor::executed_by(std::uint32_t index, const State& before) {
  const Instruction& instruction = code_[index].instruction;
  if (instruction.executed_at == Effect::none) return instruction.target;
  State after = before;
  transfer_.apply(index, code_[index], after);
  const Value place = after.reg(instruction.executed_at);
  if (!is_number(place)) return std::nullopt;
  return number_of(place, subject_.function.start);
}

/// clone and the like: what follows may run on another stack. Where there are rows, they tell.
bool Executor::is_thread_start(const Instruction& instruction, const State& state) const {
  return !subject_.has_rows() && is_system_call(instruction, state, subject_.machine.thread_system_calls);
}

/// Before what is perhaps a tail call: FP and RA were popped, and where they were is free for the callee. On
/// s390x that is the register save area, from SP on, unless this saves registers and jumps before it makes a
/// frame. Where there are rows, they show where the function ends.
void Executor::forget_popped_words(std::uint32_t index, State& state) const {
  const AbiTraits& abi = subject_.abi;
  const std::uint64_t parts = State::bit(abi.sp) | State::bit(abi.fp) | State::bit(abi.ra);
  const bool has_save_area = abi.fixed_ra_offset == 0 && abi.entry_cfa_offset != 0;
  const bool has_popped = has_save_area && (!is_entry_like(blocks_[code_[index].owner].in, abi) ||
                                            blocks_.has_changed(parts, index));
  const Value free_end = has_popped ? Value::cfa(0) : state.reg(abi.sp);
  for (const std::uint16_t reg : {abi.fp, abi.ra})
    if (reg < subject_.machine.num_registers) state.drop_below(free_end, Value::entry(reg));
}

bool Executor::jumps_by_link(std::uint32_t index, const State& state) const {
  const Instruction& instruction = code_[index].instruction;
  if (jumps_like_return(instruction, state, subject_)) return true;
  const std::uint8_t link = instruction.jump_register;
  if (subject_.machine.has_return_instruction || state.reg(link).base != Value::Base::other) return false;
  bool is_set = false;
  for (std::uint32_t at = blocks_[code_[index].owner].first; at != index && at != no_index;) {
    const Decoded& before = code_[at];
    for (const Effect& effect : code_.effects(before))
      if (effect.reg == link && writes_register(effect)) is_set = !loads_from_frame(effect);
    is_set &= before.instruction.flow != Flow::call && before.instruction.flow != Flow::indirect_call;
    at = code_.after(before.instruction);
  }
  return is_set;
}

/// What it loads may be meant to be the return address.
bool Executor::loads_from_frame(const Effect& effect) const {
  return effect.kind == Effect::Kind::load &&
         (effect.source == subject_.abi.sp || effect.source == subject_.abi.fp);
}

/// Follows the edges to places other than the next instruction.
void Executor::leave(std::uint32_t index, State& state, Edges& edges) {
  const Instruction instruction = code_[index].instruction;
  switch (instruction.flow) {
  case Flow::jump:
    if (subject_.contains(instruction.target)) {
      if (instruction.link_register != Effect::none)
        edges.skip(instruction.address + instruction.length, instruction.target);
      const bool may_be_call = !subject_.has_rows() || instruction.target == subject_.function.start;
      if (may_be_call && is_entry_like(state, subject_.abi)) forget_popped_words(index, state);
      edges.jump(instruction.target, state, index);
    }
    return;
  case Flow::branch:
    if (subject_.contains(instruction.target)) {
      if (state.compare.reg == Effect::none) return edges.jump(instruction.target, state, index);
      State taken = state;
      if (refine(instruction, true, taken, subject_, joins_.conflicts()))
        edges.jump(instruction.target, taken, index);
    }
    return;
  case Flow::indirect_jump:
  case Flow::indirect_branch: return jump_indirectly(index, state, edges);
  case Flow::ret:
  case Flow::conditional_return:
    if (jumps_by_link(index, state)) jump_indirectly(index, state, edges);
    return;
  case Flow::patchable:
    if (subject_.contains(instruction.target)) edges.guess(std::span(&instruction.target, 1), state, index);
    return;
  default: return;
  }
}

void Executor::jump_indirectly(std::uint32_t index, const State& state, Edges& edges) {
  const std::uint8_t reg = code_[index].instruction.jump_register;
  const Value to = reg == Effect::none ? Value::unknown() : state.reg(reg);
  if (returns_by_jump(code_[index].instruction, state, subject_.abi)) {
    code_[index].unresolved = false;
    return;
  }
  if (is_number(to) && subject_.contains(number_of(to, subject_.function.start))) {
    code_[index].unresolved = false;
    return edges.jump(number_of(to, subject_.function.start), state, index);
  }
  const auto targets = tables_.targets(to);
  code_[index].unresolved = !targets && !is_entry_like(state, subject_.abi);
  if (!targets) return;
  if (targets->is_guess) return edges.guess(targets->addresses, state, index);
  for (const std::uint64_t target : targets->addresses) edges.jump(target, state, index);
}

/// True if control may reach the next instruction; `state` becomes the state there.
bool Executor::continues(std::uint32_t index, State& state, Edges* edges) {
  const Instruction& instruction = code_[index].instruction;
  switch (instruction.flow) {
  case Flow::next:
  case Flow::patchable:
  case Flow::indirect_branch:
  case Flow::conditional_return: return true;
  case Flow::trap: return continues_after_trap(index, state);
  case Flow::branch: return refine(instruction, false, state, subject_, joins_.conflicts());
  case Flow::call:
  case Flow::indirect_call: return continues_after_call(index, state, edges);
  case Flow::jump:
  case Flow::indirect_jump:
  case Flow::ret:
  case Flow::stop: return false;
  }
  return false;
}

bool Executor::continues_after_call(std::uint32_t index, State& state, Edges* edges) {
  const Instruction instruction = code_[index].instruction;
  const std::uint64_t next = instruction.address + instruction.length;
  if (subject_.is_internal_call(instruction)) {
    State inside = state;
    transfer_.enter_internal_call(instruction, inside);
    if (instruction.target == next) { // gets its own address
      state = inside;
      return true;
    }
    if (edges && code_[index].pushes_and_jumps)
      edges->jump(instruction.target, inside, index);
    else if (edges)
      edges->guess(std::span(&instruction.target, 1), inside, index);
  }
  if (!subject_.has_rows()) { // what needs the state before, which is large, needs rows
    transfer_.return_from_call(instruction, state);
    follow_exception(index, state, edges);
    if (ends_.is_known_not_to_return(code_[index])) return false;
    const auto after_call = ends_.after_call(instruction, state);
    if (after_call == FunctionEnds::AfterCall::goes_on) return true;
    if (edges && subject_.contains(next) && after_call == FunctionEnds::AfterCall::perhaps_ends)
      edges->guess(std::span(&next, 1), state, index);
    return false;
  }
  const State before = state;
  transfer_.return_from_call(instruction, state);
  callees_.refine(instruction, before, state);
  follow_exception(index, state, edges);
  if (ends_.is_known_not_to_return(code_[index])) return false;
  if (ends_.rows_show_end(next, code_.after_padding(next), before, state)) {
    code_[index].does_not_return = true;
    return false;
  }
  return true;
}

bool Executor::continues_after_trap(std::uint32_t index, const State& state) {
  Decoded& decoded = code_[index];
  const std::uint64_t next = decoded.instruction.address + decoded.instruction.length;
  if (ends_.rows_show_end(next, code_.after_padding(next), state, state)) decoded.does_not_return = true;
  return !decoded.does_not_return;
}

void Executor::follow_exception(std::uint32_t index, const State& after, Edges* edges) const {
  if (!edges) return;
  const std::uint64_t address = code_[index].instruction.address;
  const auto sites = subject_.function.call_sites;
  const auto site = std::ranges::upper_bound(sites, address, {}, &CallSite::begin);
  if (site == sites.begin()) return;
  const CallSite& candidate = site[-1];
  if (address < candidate.end && subject_.contains(candidate.landing_pad))
    edges->unwind(candidate.landing_pad, after, index);
}

} // namespace sframe::code
