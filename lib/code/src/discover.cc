// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds instructions from an address along direct control flow, each decoded once. Code that jumps into the
// middle of an instruction gets both readings; there are never more instructions than bytes.

#include "engine.h"
#include "values.h"

#include <algorithm>
#include <utility>

namespace sframe::code {

bool Analysis::is_internal_call(const Instruction& instruction) const {
  return instruction.flow == Flow::call && contains(instruction.target) &&
         instruction.target != function_.start;
}

/// Decodes the first instruction of another function; its effects are added to effects_.
bool Analysis::decode_elsewhere(std::uint64_t address, Instruction& instruction) {
  if (!function_.environment || contains(address)) return false;
  const auto bytes = function_.environment->code(address, machine_->max_length);
  if (bytes.empty()) return false;
  ++work_;
  return decoder_->decode(bytes, address, instruction, effects_);
}

/// True if another function starts with an instruction that control does not leave, as what compilers make of
/// code that they know to be unreachable.
bool Analysis::is_trap(std::uint64_t address) {
  Instruction instruction;
  const std::size_t before = effects_.size();
  const bool is_code = decode_elsewhere(address, instruction);
  effects_.resize(before);
  return is_code && instruction.flow == Flow::stop &&
         instruction.length > 1; // hlt goes on after an interrupt
}

/// Makes a jump to a return elsewhere that return, with its effects: all returns of the Linux kernel on AMD64
/// are jumps to a thunk. Where there are rows, the one at the target says what the jump has to fit.
void Analysis::return_through(Instruction& jump) {
  if (function_.environment && function_.environment->is_return(jump.target)) {
    jump.flow = Flow::ret;
    return;
  }
  Instruction instruction;
  const std::size_t before = effects_.size();
  if (decode_elsewhere(jump.target, instruction) && instruction.flow == Flow::ret) {
    jump.flow = Flow::ret;
    jump.jump_register = instruction.jump_register;
  } else {
    effects_.resize(before);
  }
}

/// True if the function's code there replaces the word on top of the stack, as AMD64's retpolines do with
/// their return address (`mov %rax,(%rsp); ret`), or drops it (return thunks: `lea 8(%rsp),%rsp; ret`).
bool Analysis::replaces_return_address(std::uint64_t address) {
  if (abi_->fixed_ra_offset == 0) return false;
  constexpr std::int64_t word = 8;
  Instruction instruction;
  scratch_effects_.clear();
  const std::uint64_t offset = address - function_.start;
  work_ += steps_per_decoding;
  if (!decoder_->decode(function_.bytes.subspan(offset, size_ - offset), address, instruction,
                        scratch_effects_) ||
      instruction.flow != Flow::next || scratch_effects_.size() != 1)
    return false;
  const Effect& effect = scratch_effects_[0];
  const bool is_by_sp = effect.source == abi_->sp;
  switch (effect.kind) {
  case Effect::Kind::store: return is_by_sp && effect.value == 0;
  case Effect::Kind::set: return is_by_sp && effect.reg == abi_->sp && effect.value == word;
  case Effect::Kind::add:
    return effect.reg == abi_->sp && effect.source == Effect::none && effect.value == word;
  default: return false;
  }
}

/// Follows code that only jumps to a register: a hardened indirect jump (gcc -mindirect-branch=thunk, clang
/// -mretpoline, -mlvi-hardening). `last` becomes that jump. AMD64's thunks call their own end, put the
/// register in place of the return address, and return.
bool Analysis::decode_thunk(std::uint64_t address, Instruction& last) {
  constexpr std::size_t max_size = 64, max_instructions = 4;
  const auto bytes = function_.environment->code(address, max_size);
  std::uint64_t at = 0;
  bool has_called = false;
  std::uint8_t replaced = Effect::none;
  for (std::size_t i = 0; i < max_instructions && at < bytes.size(); ++i) {
    scratch_effects_.clear();
    ++work_;
    if (!decoder_->decode(bytes.subspan(at), address + at, last, scratch_effects_)) return false;
    at += last.length;
    if (last.flow == Flow::call && last.link_register == Effect::none && !has_called) {
      has_called = true;
      at = last.target - address;
    } else if (last.flow == Flow::next && has_called && scratch_effects_.size() == 1) {
      const Effect& effect = scratch_effects_[0];
      if (effect.kind != Effect::Kind::store || effect.source != abi_->sp || effect.value != 0) return false;
      replaced = effect.reg;
    } else if (last.flow == Flow::ret && has_called) {
      last.flow = Flow::indirect_jump;
      last.jump_register = replaced;
      return replaced != Effect::none;
    } else if (last.flow != Flow::next || !scratch_effects_.empty()) {
      // The shortest instruction is a return of a function that does nothing else, with rows of its own.
      const bool jumps =
          last.flow == Flow::indirect_jump || (last.flow == Flow::ret && last.length > machine_->alignment);
      return jumps && last.jump_register != Effect::none && scratch_effects_.empty();
    }
  }
  return false;
}

/// Makes a jump to a thunk what the thunk does.
void Analysis::jump_through_thunk(Instruction& jump) {
  if (!function_.environment || contains(jump.target)) return;
  Instruction last;
  if (!decode_thunk(jump.target, last)) return;
  const bool is_branch = jump.flow == Flow::branch;
  if (last.flow == Flow::ret) // s390x: by the link register, which may hold an entry of a jump table
    jump.flow = is_branch ? Flow::conditional_return : Flow::ret;
  else
    jump.flow = is_branch ? Flow::indirect_branch : Flow::indirect_jump;
  jump.jump_register = last.jump_register;
}

/// Bad if it cannot be paid: a function may be larger than what is left of the budget.
std::uint32_t Analysis::decode_at(std::uint64_t offset) {
  constexpr std::size_t paid_together = 64;
  const auto index = static_cast<std::uint32_t>(code_.size());
  if (index % paid_together == 0 && !pay(steps_on_credit)) out_of_steps_ = limit_met_ = true;
  Decoded& decoded = code_.emplace_back();
  changed_.push_back(~std::uint64_t{0});
  decoded.first_effect = static_cast<std::uint32_t>(effects_.size());
  if (out_of_steps_ || !decoder_->decode(function_.bytes.subspan(offset, size_ - offset),
                                         function_.start + offset, decoded.instruction, effects_)) {
    decoded.bad = true;
    decoded.instruction = {.address = function_.start + offset, .length = 1, .flow = Flow::stop};
    effects_.resize(decoded.first_effect);
  }
  note_callee(decoded);
  index_of_[offset] = index;
  return index;
}

/// Completes an instruction, whose effects are the last ones in effects_, by what is known of where it leads.
void Analysis::note_callee(Decoded& decoded) {
  Instruction& instruction = decoded.instruction;
  if (instruction.flow == Flow::indirect_call && instruction.target != 0 && function_.environment) {
    if (const auto callee = function_.environment->callee_at(instruction.target)) {
      instruction.flow = Flow::call;
      instruction.target = *callee;
    }
  }
  if (instruction.flow == Flow::jump || instruction.flow == Flow::branch) jump_through_thunk(instruction);
  if (instruction.flow == Flow::jump && function_.rows.empty()) return_through(instruction);
  decoded.num_effects = static_cast<std::uint16_t>(effects_.size() - decoded.first_effect);
  if (instruction.flow == Flow::call) decoded.calls_trap = is_trap(instruction.target);
  if (is_internal_call(instruction) && instruction.target != instruction.address + instruction.length)
    decoded.pushes_and_jumps = replaces_return_address(instruction.target);
}

/// Makes an instruction that executes another one elsewhere what that is, if it is known where: with the
/// state before it, that is. If a register changes that one, all that counts is whether it may be a branch.
void Analysis::execute_elsewhere(Decoded& decoded, const State& before) {
  Instruction& instruction = decoded.instruction;
  std::uint64_t address = instruction.target;
  if (instruction.executed_at != Effect::none) {
    State after = before;
    apply(decoded, after);
    const Value place = after.reg(instruction.executed_at);
    if (!is_number(place)) return;
    address = number_of(place, function_.start);
  }
  const Executes how = std::exchange(instruction.executes, Executes::nothing);
  executed_.push_back(address);
  work_ += steps_per_decoding;
  const std::size_t size = machine_->max_length, first = effects_.size();
  std::span<const std::byte> code;
  if (contains(address))
    code = function_.bytes.subspan(address - function_.start,
                                   std::min(size, size_ - (address - function_.start)));
  else if (function_.environment)
    code = function_.environment->code(address, size);
  std::vector<std::byte> bytes(code.begin(), code.end());
  const auto decode = [&](Instruction& executed) {
    effects_.resize(first);
    return decoder_->decode(bytes, address, executed, effects_) && executed.executes == Executes::nothing;
  };
  Instruction executed, changed;
  bool is_known = decode(executed);
  if (is_known && how == Executes::changed) {
    bytes[1] = std::byte{0xff};
    is_known = !decode(changed) || changed.flow == Flow::next;
    if (executed.flow != Flow::next || !is_known) instruction.flow = Flow::indirect_branch;
  }
  if (!is_known || how == Executes::changed) return effects_.resize(first);
  executed.address = instruction.address;
  executed.length = instruction.length;
  executed.is_nop = executed.marks_start = false;
  instruction = executed;
  decoded.first_effect = static_cast<std::uint32_t>(first);
  note_callee(decoded);
}

void Analysis::make_leader(std::uint64_t address) {
  std::uint32_t index = index_at(address);
  if (index == no_index) {
    discover(address);
    index = index_at(address);
  }
  Decoded& decoded = code_[index];
  if (decoded.leader) return;
  decoded.leader = true;
  const std::uint32_t owner = decoded.owner;
  if (owner == no_index) return;
  // A block already continued through here. It is run again to pass on its state; the instructions from here
  // on no longer belong to it.
  enqueue(owner);
  while (index != no_index && code_[index].owner == owner) {
    ++work_;
    code_[index].owner = no_index;
    index = index_at(code_[index].instruction.address + code_[index].instruction.length);
  }
}

/// Queues the targets of an instruction's direct edges, and marks them as starts of blocks.
void Analysis::note_targets(std::uint32_t index) {
  const Instruction instruction = code_[index].instruction;
  const bool jumps = instruction.flow == Flow::jump || instruction.flow == Flow::branch ||
                     instruction.flow == Flow::patchable;
  if ((!jumps && !is_internal_call(instruction)) || !contains(instruction.target)) return;
  const std::uint32_t target = index_at(instruction.target);
  if (target == no_index)
    to_discover_.push_back(instruction.target);
  else
    make_leader(instruction.target);
}

/// Decodes runs of instructions up to what is known. Where a run continues into an instruction that is no
/// leader, process() makes it one if a block already owns it.
void Analysis::discover(std::uint64_t address) {
  to_discover_.push_back(address);
  while (!to_discover_.empty()) {
    std::uint64_t at = to_discover_.back();
    to_discover_.pop_back();
    if (index_at(at) != no_index) {
      make_leader(at);
      continue;
    }
    for (bool is_first = true; contains(at) && index_at(at) == no_index; is_first = false) {
      const std::uint32_t index = decode_at(at - function_.start);
      code_[index].leader = is_first;
      note_targets(index);
      const Instruction& instruction = code_[index].instruction;
      const Flow flow = instruction.flow;
      if (flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ret || flow == Flow::stop) break;
      at += instruction.length;
    }
  }
}

} // namespace sframe::code
