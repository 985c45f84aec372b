// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "other_code.h"

namespace sframe::code {

void OtherCode::find_callee(Instruction& call) const {
  if (call.target == 0 || !subject_.function.environment) return;
  if (const auto callee = subject_.function.environment->callee_at(call.target)) {
    call.flow = Flow::call;
    call.target = *callee;
  }
}

/// Decodes the first instruction of another function; its effects are added to `effects`.
bool OtherCode::decode(std::uint64_t address, Instruction& instruction, std::vector<Effect>& effects) {
  if (!subject_.function.environment || subject_.contains(address)) return false;
  const auto bytes = subject_.function.environment->code(address, subject_.machine.max_length);
  if (bytes.empty()) return false;
  effort_.add();
  return decoder_->decode(bytes, address, instruction, effects);
}

bool OtherCode::is_trap(std::uint64_t address) {
  Instruction instruction;
  effects_.clear();
  return decode(address, instruction, effects_) && instruction.flow == Flow::stop &&
         instruction.length > 1; // hlt goes on after an interrupt
}

void OtherCode::return_through(Instruction& jump, std::vector<Effect>& effects) {
  if (subject_.function.environment && subject_.function.environment->is_return(jump.target)) {
    jump.flow = Flow::ret;
    return;
  }
  Instruction instruction;
  const std::size_t before = effects.size();
  if (decode(jump.target, instruction, effects) && instruction.flow == Flow::ret) {
    jump.flow = Flow::ret;
    jump.jump_register = instruction.jump_register;
  } else {
    effects.resize(before);
  }
}

bool OtherCode::replaces_return_address(std::uint64_t address) {
  if (subject_.abi.fixed_ra_offset == 0) return false;
  constexpr std::int64_t word = 8;
  Instruction instruction;
  effects_.clear();
  effort_.add_decoding();
  if (!decoder_->decode(subject_.bytes_from(address), address, instruction, effects_) ||
      instruction.flow != Flow::next || effects_.size() != 1)
    return false;
  const Effect& effect = effects_[0];
  const std::uint16_t sp = subject_.abi.sp;
  switch (effect.kind) {
  case Effect::Kind::store: return effect.source == sp && effect.value == 0;
  case Effect::Kind::set: return effect.source == sp && effect.reg == sp && effect.value == word;
  case Effect::Kind::add: return effect.reg == sp && effect.source == Effect::none && effect.value == word;
  default: return false;
  }
}

/// Follows code that only jumps to a register: a hardened indirect jump (gcc -mindirect-branch=thunk, clang
/// -mretpoline, -mlvi-hardening). `last` becomes that jump. AMD64's thunks call their own end, put the
/// register in place of the return address, and return.
bool OtherCode::decode_thunk(std::uint64_t address, Instruction& last) {
  constexpr std::size_t max_size = 64, max_instructions = 4;
  const auto bytes = subject_.function.environment->code(address, max_size);
  std::uint64_t at = 0;
  bool has_called = false;
  std::uint8_t replaced = Effect::none;
  for (std::size_t i = 0; i < max_instructions && at < bytes.size(); ++i) {
    effects_.clear();
    effort_.add();
    if (!decoder_->decode(bytes.subspan(at), address + at, last, effects_)) return false;
    at += last.length;
    if (last.flow == Flow::call && last.link_register == Effect::none && !has_called) {
      has_called = true;
      at = last.target - address;
    } else if (last.flow == Flow::next && has_called && effects_.size() == 1) {
      const Effect& effect = effects_[0];
      if (effect.kind != Effect::Kind::store || effect.source != subject_.abi.sp || effect.value != 0)
        return false;
      replaced = effect.reg;
    } else if (last.flow == Flow::ret && has_called) {
      last.flow = Flow::indirect_jump;
      last.jump_register = replaced;
      return replaced != Effect::none;
    } else if (last.flow != Flow::next || !effects_.empty()) {
      // The shortest instruction is a return of a function that does nothing else, with rows of its own.
      const bool jumps = last.flow == Flow::indirect_jump ||
                         (last.flow == Flow::ret && last.length > subject_.machine.alignment);
      return jumps && last.jump_register != Effect::none && effects_.empty();
    }
  }
  return false;
}

void OtherCode::jump_through_thunk(Instruction& jump) {
  if (!subject_.function.environment || subject_.contains(jump.target)) return;
  Instruction last;
  if (!decode_thunk(jump.target, last)) return;
  const bool is_branch = jump.flow == Flow::branch;
  if (last.flow == Flow::ret) // s390x: by the link register, which may hold an entry of a jump table
    jump.flow = is_branch ? Flow::conditional_return : Flow::ret;
  else
    jump.flow = is_branch ? Flow::indirect_branch : Flow::indirect_jump;
  jump.jump_register = last.jump_register;
}

} // namespace sframe::code
