// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "instructions.h"

#include <algorithm>
#include <utility>

namespace sframe::code {

Instructions::Instructions(const Subject& subject, Effort& effort)
    : subject_(subject), effort_(effort), decoder_(make_decoder(subject.abi)),
      other_code_(subject, effort, decoder_.get()) {}

void Instructions::reset() {
  code_.clear();
  effects_.clear();
  index_of_.assign(subject_.size, no_index);
  in_line_.clear();
  executed_.clear();
}

void Instructions::forget_flow() {
  for (Decoded& decoded : code_) {
    decoded.block = decoded.owner = decoded.guess = no_index;
    decoded.sp_lost = decoded.unresolved = decoded.runs_off = false;
  }
}

std::uint32_t Instructions::decode(std::uint64_t address) {
  const std::uint32_t index = size();
  const bool is_paid = effort_.may_decode();
  effort_.add_decoded();
  Decoded& decoded = code_.emplace_back();
  Instruction& instruction = decoded.instruction;
  decoded.first_effect = static_cast<std::uint32_t>(effects_.size());
  if (!is_paid || !decoder_->decode(subject_.bytes_from(address), address, instruction, effects_)) {
    decoded.bad = true;
    instruction = {.address = address, .length = 1, .flow = Flow::stop};
    effects_.resize(decoded.first_effect);
  }
  complete(decoded);
  index_of_[subject_.offset_of(address)] = index;
  return index;
}

void Instructions::complete(Decoded& decoded) {
  Instruction& instruction = decoded.instruction;
  if (instruction.flow == Flow::indirect_call) other_code_.find_callee(instruction);
  if (instruction.flow == Flow::jump || instruction.flow == Flow::branch)
    other_code_.jump_through_thunk(instruction);
  if (instruction.flow == Flow::jump && !subject_.has_rows())
    other_code_.return_through(instruction, effects_);
  decoded.num_effects = static_cast<std::uint16_t>(effects_.size() - decoded.first_effect);
  if (instruction.flow == Flow::call) decoded.calls_trap = other_code_.is_trap(instruction.target);
  if (subject_.is_internal_call(instruction) &&
      instruction.target != instruction.address + instruction.length)
    decoded.pushes_and_jumps = other_code_.replaces_return_address(instruction.target);
}

std::vector<std::byte> Instructions::bytes_at(std::uint64_t address) const {
  const std::size_t most = subject_.machine.max_length;
  std::span<const std::byte> bytes;
  if (subject_.contains(address))
    bytes = subject_.bytes_from(address);
  else if (subject_.function.environment)
    bytes = subject_.function.environment->code(address, most);
  bytes = bytes.first(std::min(most, bytes.size()));
  return {bytes.begin(), bytes.end()};
}

void Instructions::execute(std::uint32_t index, std::uint64_t address) {
  Decoded& decoded = code_[index];
  Instruction& instruction = decoded.instruction;
  const Executes how = std::exchange(instruction.executes, Executes::nothing);
  executed_.push_back(address);
  effort_.add_decoding();
  const std::size_t first = effects_.size();
  std::vector<std::byte> bytes = bytes_at(address);
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
  complete(decoded);
}

std::uint64_t Instructions::after_padding(std::uint64_t address) const {
  constexpr int max_padding = 64;
  for (int i = 0; i < max_padding; ++i) {
    const std::uint32_t index = at(address);
    if (index == no_index || !code_[index].instruction.is_nop) break;
    address += code_[index].instruction.length;
  }
  return address;
}

bool Instructions::is_in_line(std::uint64_t address) {
  if (in_line_.empty()) {
    in_line_.resize(subject_.size);
    for (std::uint64_t offset = 0; offset < subject_.size;) {
      in_line_[offset] = true;
      const std::uint32_t known = index_of_[offset];
      const std::uint32_t index = known == no_index ? decode(subject_.function.start + offset) : known;
      offset += code_[index].instruction.length;
    }
  }
  return in_line_[subject_.offset_of(address)];
}

std::uint32_t Instructions::padding(std::uint64_t address, std::uint64_t end) {
  effort_.add_decoding();
  scratch_effects_.clear();
  Instruction instruction;
  const bool is_padding = decoder_ &&
                          decoder_->decode(subject_.bytes_from(address).first(end - address), address,
                                           instruction, scratch_effects_) &&
                          instruction.is_nop;
  return is_padding ? instruction.length : 0;
}

} // namespace sframe::code
