// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about a run. Most need a state, which is computed from the start of its block, or in a visit
// along the blocks; gaps() needs none, and is what takes longest otherwise: it looks at every byte.

#include "answers.h"

#include "sframe/code/row_check.h"

#include <algorithm>
#include <utility>

namespace sframe::code {

void Answers::reset() {
  order_.clear();
  obstacles_.clear();
}

void Answers::prepare() {
  order_blocks();
  collect_obstacles();
}

void Answers::order_blocks() {
  for (std::uint32_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].visits) order_.push_back({blocks_[i].address, i}); // else: a limit was reached first
  std::ranges::sort(order_, {}, &BlockAt::address);
}

void Answers::collect_obstacles() {
  using Kind = Obstacle::Kind;
  for (const Decoded& decoded : code_.all()) {
    if (decoded.owner == no_index) continue;
    const bool any =
        decoded.unresolved | decoded.bad | decoded.sp_lost | decoded.does_not_return | decoded.runs_off;
    if (!any) continue;
    const auto add = [&](bool has, Kind kind) {
      if (has) obstacles_.push_back({kind, decoded.instruction.address});
    };
    add(decoded.unresolved, Kind::indirect_jump);
    add(decoded.bad, Kind::undecodable);
    add(decoded.sp_lost, Kind::sp_lost);
    add(decoded.does_not_return, Kind::call_falls_through);
    add(decoded.runs_off, Kind::runs_off);
  }
  std::ranges::sort(obstacles_, {}, [](const Obstacle& o) { return std::pair(o.kind, o.address); });
  if (effort_.limit_met() || !code_.can_decode() || subject_.size < subject_.function.bytes.size())
    obstacles_.push_back({Kind::limit, subject_.function.start});
}

/// True if control passes from the instruction to the next one of the block, as when the block was run last
/// (`is_in_block`). Its state may have changed since if a limit was met. Whether a call returns may depend on
/// the padding after it, of which more may have been decoded since.
bool Answers::passes(std::uint32_t index, bool is_in_block, VisitedState& state) const {
  if (effort_.limit_met()) return state.step();
  const Instruction& instruction = code_[index].instruction;
  const bool may_stop = instruction.flow == Flow::call || instruction.flow == Flow::indirect_call ||
                        instruction.flow == Flow::trap;
  if (may_stop) {
    const std::uint32_t next = code_.after(instruction);
    if (next != no_index && code_[next].instruction.is_nop) return state.step();
  }
  return is_in_block;
}

void Answers::visit(bool (*call)(void*, const Reached&), void* context) {
  VisitedState state(code_, executor_);
  const bool limit_met = effort_.limit_met();
  for (const BlockAt& place : order_) {
    const Block& block = blocks_[place.block];
    state.start(block);
    std::uint32_t index = block.first;
    for (bool is_start = true;; is_start = false) {
      const Decoded& decoded = code_[index];
      const Instruction& instruction = decoded.instruction;
      // Of most instructions, neither the exit nor whether control passes needs a state.
      const bool is_plain = instruction.flow == Flow::next && !calls_system(instruction);
      // The visitor's work is paid for too, and may have used the budget up.
      const std::uint64_t words =
          limit_met ? Effort::steps_of_words(state.get().slots().size()) : decoded.words_steps;
      if (!effort_.go(1 + words)) return;
      const Reached at{.instruction = instruction,
                       .certainty = block.certainty,
                       .exit = is_plain ? Exit::none : exit_of(decoded, state),
                       .block_start = is_start,
                       .is_unknown = decoded.bad,
                       .pushes_and_jumps = decoded.pushes_and_jumps,
                       .changed = is_start || limit_met ? ~std::uint64_t{0} : blocks_.changed_at(index),
                       .visited = state};
      if (!call(context, at)) return;
      const std::uint64_t next = instruction.address + instruction.length;
      const bool is_in_block = subject_.offset_of(next) < block.end;
      if (!(is_plain && !limit_met ? is_in_block : passes(index, is_in_block, state))) break;
      index = code_.at(next);
      if (index == no_index || code_[index].leader) break;
      state.move_to(index);
    }
  }
  (void)effort_.pay_all();
}

Exit Answers::exit_of(const Decoded& decoded, VisitedState& state) const {
  const Instruction& instruction = decoded.instruction;
  const AbiTraits& abi = subject_.abi;
  switch (instruction.flow) {
  case Flow::jump:
  case Flow::branch: return subject_.contains(instruction.target) ? Exit::none : Exit::tail_call;
  case Flow::indirect_jump:
  case Flow::indirect_branch:
    if (returns_by_jump(instruction, state.get(), abi))
      return exit_of_return(instruction, state.get(), subject_);
    if (decoded.unresolved) return Exit::indirect_unknown;
    return is_entry_like(state.get(), abi) ? Exit::indirect_tail_call : Exit::none;
  case Flow::ret:
  case Flow::conditional_return:
    if (!executor_.jumps_by_link(code_.number_of(decoded), state.get()))
      return exit_of_return(instruction, state.get(), subject_);
    return decoded.unresolved ? Exit::indirect_unknown : Exit::none;
  case Flow::stop: return Exit::stops;
  case Flow::next:
    return calls_system(instruction) &&
                   is_system_call(instruction, state.get(), subject_.machine.last_system_calls)
               ? Exit::stops
               : Exit::none;
  case Flow::trap:
  case Flow::patchable:
  case Flow::call:
  case Flow::indirect_call: break;
  }
  return Exit::none;
}

bool Answers::state_before(std::uint32_t wanted, State& state) {
  const std::uint32_t owner = code_[wanted].owner;
  if (owner == no_index) return false;
  state = blocks_[owner].in;
  for (std::uint32_t index = blocks_[owner].first; index != wanted;) {
    if (!executor_.step(index, state, nullptr)) return false;
    index = code_.after(code_[index].instruction);
    if (index == no_index || code_[index].leader) return false;
  }
  return true;
}

const State* Answers::state_at(std::uint64_t address) {
  const std::uint32_t index = code_.at(address);
  return index != no_index && state_before(index, answer_) ? &answer_ : nullptr;
}

bool Answers::never_returns(std::uint64_t address) const {
  const std::uint32_t index = code_.at(address);
  return index != no_index && ends_.is_known_not_to_return(code_[index]);
}

/// The reached instruction that contains the address.
const Decoded* Answers::decoded_around(std::uint64_t address) const {
  if (!subject_.contains(address)) return nullptr;
  const std::uint64_t offset = subject_.offset_of(address);
  for (std::uint64_t back = 0; back <= offset && back < subject_.machine.max_length; ++back) {
    const std::uint32_t index = code_.at_offset(offset - back);
    if (blocks_.is_reached(index) && code_[index].instruction.length > back) return &code_[index];
  }
  return nullptr;
}

std::optional<FrameRow> Answers::row_at(std::uint64_t address) {
  const Decoded* decoded = decoded_around(address);
  if (!decoded || !state_before(code_.number_of(*decoded), answer_)) return std::nullopt;
  auto row = row_of(answer_, subject_.abi);
  if (row) row->offset = static_cast<std::uint32_t>(subject_.offset_of(decoded->instruction.address));
  return row;
}

/// True if the function is a contiguous run of reached instructions, as most are.
bool Answers::is_reached_throughout() const {
  std::uint64_t at = 0;
  while (at < subject_.size) {
    if (const std::uint64_t end = blocks_.end_of_block(at)) {
      at = end;
      continue;
    }
    const std::uint32_t index = code_.at_offset(at);
    if (!blocks_.is_reached(index)) return false;
    at += code_[index].instruction.length;
  }
  return true;
}

/// The end of the last reached instruction, as an offset. It is mostly far below the end if the function's
/// size is not known.
std::uint64_t Answers::end_of_reached() const {
  std::uint64_t end = 0;
  for (const Decoded& decoded : code_.all())
    if (decoded.owner != no_index)
      end = std::max(end, subject_.offset_of(decoded.instruction.address) + decoded.instruction.length);
  return std::min(end, subject_.size);
}

/// Where the padding at an offset ends, at `end` at the latest.
std::uint64_t Answers::skip_padding(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t start = subject_.function.start;
  while (begin < end && effort_.pay()) {
    const std::uint32_t length = code_.padding(start + begin, start + end);
    if (length == 0) break;
    begin += length;
  }
  return begin;
}

std::span<const Gap> Answers::gaps() {
  gaps_.clear();
  if (is_reached_throughout()) return gaps_;
  const std::uint64_t start = subject_.function.start, reached_end = end_of_reached();
  std::uint64_t covered = 0; // the end of the reached instructions that start before `at`
  const auto is_reached = [&](std::uint64_t offset) { // extends `covered`
    const std::uint32_t index = code_.at_offset(offset);
    if (blocks_.is_reached(index)) covered = std::max(covered, offset + code_[index].instruction.length);
    return offset < covered;
  };
  for (std::uint64_t at = 0; at < subject_.size;) {
    if (at < reached_end && is_reached(at)) {
      ++at;
      continue;
    }
    std::uint64_t end = at;
    while (end < reached_end && !is_reached(end)) ++end;
    if (end == reached_end) end = subject_.size;
    const std::uint64_t begin = skip_padding(at, end);
    if (begin < end && blocks_.end_of_literals(begin) < end) gaps_.push_back({start + begin, start + end});
    at = end;
  }
  (void)effort_.pay_all();
  return gaps_;
}

} // namespace sframe::code
