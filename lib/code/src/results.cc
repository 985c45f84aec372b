// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries after a run. States within blocks are recomputed; that costs a block and saves storing one per
// instruction.

#include "engine.h"
#include "values.h"

#include <algorithm>

namespace sframe::code {

/// The parts of a state that may differ after the instruction.
std::uint64_t Analysis::changed_by(const Decoded& decoded) const {
  if (decoded.instruction.flow != Flow::next) return ~std::uint64_t{0};
  std::uint64_t changed = 0;
  for (const Effect& effect : std::span(effects_).subspan(decoded.first_effect, decoded.num_effects)) {
    const bool is_store = effect.kind == Effect::Kind::store || effect.kind == Effect::Kind::overwrite;
    if (is_store || effect.reg == abi_->sp) changed |= State::words_bit;
    if (!is_store && effect.kind != Effect::Kind::compare) changed |= State::bit(effect.reg);
  }
  return changed;
}

void Analysis::visit(bool (*call)(void*, const Reached&), void* context) {
  for (const std::uint32_t block : order_) {
    State state = blocks_[block].in;
    std::uint32_t index = blocks_[block].first;
    std::uint64_t changed = ~std::uint64_t{0};
    for (bool is_start = true;; is_start = false) {
      // The visitor's work is paid for too, and may have used the budget up.
      const std::uint64_t before = work_;
      work_ += 1 + state.slots().size() / words_per_step;
      if (before / steps_on_credit != work_ / steps_on_credit && !pay(0)) return;
      Decoded& decoded = code_[index];
      const Reached at{.instruction = decoded.instruction,
                       .state = state,
                       .certainty = blocks_[block].certainty,
                       .exit = exit_of(decoded, state),
                       .block_start = is_start,
                       .changed = changed};
      if (!call(context, at)) return;
      if (!step(index, state, false)) break;
      changed = changed_by(decoded);
      index = index_at(decoded.instruction.address + decoded.instruction.length);
      if (index == no_index || code_[index].leader) break;
    }
  }
  (void)pay(0);
}

/// The target of a return: the word that SP points to, else the register that the instruction names.
Value Analysis::return_address(const Instruction& instruction, const State& state) const {
  if (abi_->fixed_ra_offset != 0) return state.word(state.reg(abi_->sp));
  return state.reg(instruction.jump_register == Effect::none ? abi_->ra : instruction.jump_register);
}

Exit Analysis::exit_of_return(const Instruction& instruction, const State& state) const {
  const Value sp = state.reg(abi_->sp), wanted = Value::entry(abi_->ra);
  const bool pops = abi_->fixed_ra_offset != 0;
  const Value ra = return_address(instruction, state);
  if (sp.base == Value::Base::conflict || sp.base == Value::Base::symbol || ra.base == Value::Base::unknown ||
      ra.base == Value::Base::conflict)
    return Exit::returns_unknown;
  const bool height_is_right = sp == Value::cfa(-abi_->entry_cfa_offset);
  if (height_is_right && signed_value(ra, false) == wanted) return Exit::returns;
  // push, ret: a jump.
  if (pops && state.last_store == sp && plus(sp, 8) == Value::cfa(-abi_->entry_cfa_offset))
    return Exit::indirect_tail_call;
  return Exit::returns_wrong;
}

Exit Analysis::exit_of(const Decoded& decoded, const State& state) {
  const Instruction& instruction = decoded.instruction;
  switch (instruction.flow) {
  case Flow::jump:
  case Flow::branch: return contains(instruction.target) ? Exit::none : Exit::tail_call;
  case Flow::indirect_jump:
  case Flow::indirect_branch:
    if (decoded.unresolved) return Exit::indirect_unknown;
    return is_entry_like(state, *abi_) ? Exit::indirect_tail_call : Exit::none;
  case Flow::ret:
  case Flow::conditional_return:
    if (!jumps_like_return(instruction, state)) return exit_of_return(instruction, state);
    return decoded.unresolved ? Exit::indirect_unknown : Exit::none;
  case Flow::stop: return Exit::stops;
  case Flow::next:
    return is_system_call(instruction, state, machine_->last_system_calls) ? Exit::stops : Exit::none;
  case Flow::trap:
  case Flow::patchable:
  case Flow::call:
  case Flow::indirect_call: break;
  }
  return Exit::none;
}

bool Analysis::state_before(std::uint32_t wanted, State& state) {
  const std::uint32_t block = code_[wanted].owner;
  if (block == no_index) return false;
  state = blocks_[block].in;
  for (std::uint32_t index = blocks_[block].first; index != wanted;) {
    Decoded& decoded = code_[index];
    if (!step(index, state, false)) return false;
    index = index_at(decoded.instruction.address + decoded.instruction.length);
    if (index == no_index || code_[index].leader) return false;
  }
  return true;
}

const State* Analysis::state_at(std::uint64_t address) {
  const std::uint32_t index = index_at(address);
  return index != no_index && state_before(index, answer_) ? &answer_ : nullptr;
}

bool Analysis::never_returns(std::uint64_t address) const {
  const std::uint32_t index = index_at(address);
  return index != no_index && is_known_not_to_return(code_[index]);
}

const Decoded* Analysis::decoded_around(std::uint64_t address) const {
  if (!contains(address)) return nullptr;
  const std::uint64_t offset = address - function_.start;
  for (std::uint64_t back = 0; back <= offset && back < machine_->max_length; ++back) {
    const std::uint32_t index = index_of_[offset - back];
    if (index == no_index || code_[index].owner == no_index) continue;
    if (code_[index].instruction.length > back) return &code_[index];
  }
  return nullptr;
}

std::optional<FrameRow> Analysis::row_at(std::uint64_t address) {
  const Decoded* decoded = decoded_around(address);
  if (!decoded || !state_before(static_cast<std::uint32_t>(decoded - code_.data()), answer_))
    return std::nullopt;
  auto row = row_of(answer_, *abi_);
  if (row) row->offset = static_cast<std::uint32_t>(decoded->instruction.address - function_.start);
  return row;
}

/// True if the function is a contiguous run of reached instructions, as most are.
bool Analysis::is_reached_throughout() const {
  std::uint64_t at = 0;
  while (at < size_) {
    if (const std::uint64_t end = end_of_block(at)) {
      at = end;
      continue;
    }
    const std::uint32_t index = index_of_[at];
    if (index == no_index || code_[index].owner == no_index) return false;
    at += code_[index].instruction.length;
  }
  return true;
}

std::span<const Gap> Analysis::gaps() {
  gaps_.clear();
  if (is_reached_throughout()) return gaps_;
  std::uint64_t reached_end = 0; // mostly far below `size_` if the function's size is not known
  for (const Decoded& decoded : code_)
    if (decoded.owner != no_index)
      reached_end =
          std::max(reached_end, decoded.instruction.address - function_.start + decoded.instruction.length);
  reached_end = std::min(reached_end, size_);
  std::uint64_t covered = 0; // the end of the reached instructions that start before `at`
  const auto is_reached = [&](std::uint64_t offset) { // extends `covered`
    const std::uint32_t index = index_of_[offset];
    if (index != no_index && code_[index].owner != no_index)
      covered = std::max(covered, offset + code_[index].instruction.length);
    return offset < covered;
  };
  for (std::uint64_t at = 0; at < size_;) {
    if (at < reached_end && is_reached(at)) {
      ++at;
      continue;
    }
    std::uint64_t end = at;
    while (end < reached_end && !is_reached(end)) ++end;
    if (end == reached_end) end = size_;
    Instruction instruction;
    while (at < end && pay(steps_on_credit)) { // padding
      work_ += steps_per_decoding;
      scratch_effects_.clear();
      if (!decoder_ ||
          !decoder_->decode(function_.bytes.subspan(at, end - at), function_.start + at, instruction,
                            scratch_effects_) ||
          !instruction.is_nop)
        break;
      at += instruction.length;
    }
    if (at < end) gaps_.push_back({function_.start + at, function_.start + end});
    at = end;
  }
  (void)pay(0);
  return gaps_;
}

const State* Results::state_at(std::uint64_t address) const {
  return analysis_ ? analysis_->state_at(address) : nullptr;
}
bool Results::never_returns(std::uint64_t address) const {
  return analysis_ && analysis_->never_returns(address);
}
std::optional<FrameRow> Results::row_at(std::uint64_t address) const {
  return analysis_ ? analysis_->row_at(address) : std::nullopt;
}
std::span<const Conflict> Results::conflicts() const {
  return analysis_ ? analysis_->conflicts() : std::span<const Conflict>{};
}
std::span<const Obstacle> Results::obstacles() const {
  return analysis_ ? analysis_->obstacles() : std::span<const Obstacle>{};
}
std::span<const Gap> Results::gaps() const {
  return analysis_ ? analysis_->gaps() : std::span<const Gap>{};
}
std::uint32_t Results::num_instructions() const {
  return analysis_ ? analysis_->num_instructions() : 0;
}
void Results::visit_all(Call call, void* context) const {
  if (analysis_) analysis_->visit(call, context);
}

Analyzer::Analyzer(const AbiTraits& abi) : analysis_(std::make_unique<Analysis>(abi)) {
  results_.analysis_ = analysis_.get();
}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

const Results& Analyzer::run(const Function& function) {
  analysis_->run(function);
  return results_;
}

} // namespace sframe::code
