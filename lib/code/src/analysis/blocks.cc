// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocks.h"

#include <algorithm>

namespace sframe::code {
namespace {

/// Each has a state. The largest functions of compilers have less than 10,000.
constexpr std::uint32_t max_blocks = 1 << 16;

} // namespace

void Blocks::reset() {
  changed_.clear();
  forget_flow();
}

void Blocks::forget_flow() {
  num_blocks_ = 0;
  to_run_.clear();
  literals_.clear();
}

std::uint32_t Blocks::make_new_leader(std::uint64_t address) {
  if (code_.at(address) == no_index) discover(address);
  const std::uint32_t leader = code_.at(address);
  Decoded& decoded = code_[leader];
  if (decoded.leader) return leader;
  decoded.leader = true;
  const std::uint32_t owner = decoded.owner;
  if (owner == no_index) return leader;
  // A block already continued through here. It is run again to pass on its state; the instructions from here
  // on no longer belong to it.
  enqueue(blocks_[owner]);
  for (std::uint32_t index = leader; index != no_index && code_[index].owner == owner;) {
    effort_.add();
    code_[index].owner = no_index;
    index = code_.after(code_[index].instruction);
  }
  return leader;
}

void Blocks::make_room() {
  changed_.resize(code_.size(), ~std::uint64_t{0});
}

/// Queues the targets of an instruction's direct edges, and marks them as starts of blocks.
void Blocks::note_targets(std::uint32_t index) {
  const Instruction instruction = code_[index].instruction;
  const bool jumps = instruction.flow == Flow::jump || instruction.flow == Flow::branch ||
                     instruction.flow == Flow::patchable;
  if ((!jumps && !subject_.is_internal_call(instruction)) || !subject_.contains(instruction.target)) return;
  if (code_.at(instruction.target) == no_index)
    to_discover_.push_back(instruction.target);
  else
    (void)make_leader(instruction.target);
}

/// Where a run continues into an instruction that is no leader, the analysis makes it one if a block already
/// owns it (ends_before()).
void Blocks::discover(std::uint64_t address) {
  to_discover_.push_back(address);
  while (!to_discover_.empty()) {
    std::uint64_t at = to_discover_.back();
    to_discover_.pop_back();
    if (code_.at(at) != no_index) {
      (void)make_leader(at);
      continue;
    }
    for (bool is_first = true; subject_.contains(at) && code_.at_offset(subject_.offset_of(at)) == no_index;
         is_first = false) {
      const std::uint32_t index = code_.decode(at);
      code_[index].leader = is_first;
      note_targets(index);
      const Instruction& instruction = code_[index].instruction;
      const Flow flow = instruction.flow;
      if (flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ret || flow == Flow::stop) break;
      at += instruction.length;
    }
  }
}

Block* Blocks::add(std::uint32_t leader) {
  if (num_blocks_ >= max_blocks) return nullptr;
  const std::uint32_t index = num_blocks_++;
  if (blocks_.size() < num_blocks_) blocks_.emplace_back();
  Block& block = blocks_[index];
  block.address = code_[leader].instruction.address;
  block.number = index;
  block.first = leader;
  block.visits = 0;
  code_[leader].block = index;
  return &block;
}

std::uint64_t Blocks::end_of_block(std::uint64_t offset) const {
  const std::uint32_t index = code_.at_offset(offset);
  if (index == no_index || code_[index].block == no_index || effort_.limit_met()) return 0;
  const Block& block = blocks_[code_[index].block];
  return block.visits ? block.end : 0;
}

void Blocks::add_literals(std::uint64_t begin, std::uint64_t end) {
  literals_[subject_.offset_of(begin)] = subject_.offset_of(end);
}

std::uint64_t Blocks::end_of_literals(std::uint64_t offset) const {
  const auto after = literals_.upper_bound(offset);
  return after == literals_.begin() ? offset : std::max(offset, std::prev(after)->second);
}

bool Blocks::has_changed(std::uint64_t parts, std::uint32_t index) const {
  for (std::uint32_t at = blocks_[code_[index].owner].first; at != index;) {
    at = code_.after(code_[at].instruction);
    if (at == no_index || (changed_at(at) & parts) != 0) return true;
  }
  return false;
}

} // namespace sframe::code
