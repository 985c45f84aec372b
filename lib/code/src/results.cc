// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries after a run. States within blocks are recomputed; that costs a block and saves storing one per
// instruction.

#include "engine.h"
#include "values.h"

#include <algorithm>

namespace sframe::code {

void VisitedState::start(const Block& block) {
  known_ = &block.in;
  reached_ = wanted_ = block.first;
}

const State& VisitedState::compute() {
  while (reached_ != wanted_) (void)execute();
  return *known_;
}

bool VisitedState::step() {
  (void)get();
  return execute();
}

/// Executes the instruction at `reached_`.
bool VisitedState::execute() {
  if (known_ != &state_) state_ = *known_;
  known_ = &state_;
  const bool goes_on = analysis_.step(reached_, state_, false);
  const Instruction& instruction = analysis_.code_[reached_].instruction;
  reached_ = analysis_.index_at(instruction.address + instruction.length);
  return goes_on;
}

const State& Reached::state() const {
  return visited.get();
}

/// True if control passes from the instruction to the next one of the block, as when the block was run last.
/// Its state may have changed since if a limit was met. Whether a call returns may depend on the padding
/// after it, of which more may have been decoded since.
bool Analysis::passes(std::uint32_t index, const Block& block, VisitedState& state) const {
  const Instruction& instruction = code_[index].instruction;
  const std::uint64_t next = instruction.address + instruction.length - function_.start;
  if (limit_met_) return state.step();
  const bool may_stop = instruction.flow == Flow::call || instruction.flow == Flow::indirect_call ||
                        instruction.flow == Flow::trap;
  if (may_stop && next < size_ && index_of_[next] != no_index && code_[index_of_[next]].instruction.is_nop)
    return state.step();
  return next < block.end;
}

void Analysis::visit(bool (*call)(void*, const Reached&), void* context) {
  VisitedState state(*this);
  for (const BlockAt& next : order_) {
    const Block& block = blocks_[next.block];
    state.start(block);
    std::uint32_t index = block.first;
    for (bool is_start = true;; is_start = false) {
      const Decoded& decoded = code_[index];
      // The visitor's work is paid for too, and may have used the budget up.
      const std::uint64_t before = work_;
      work_ += 1 + (limit_met_ ? state.get().slots().size() / words_per_step : decoded.steps_of_words);
      if (before / steps_on_credit != work_ / steps_on_credit && !pay(0)) return;
      const Reached at{.instruction = decoded.instruction,
                       .certainty = block.certainty,
                       .exit = exit_of(decoded, state),
                       .block_start = is_start,
                       .is_unknown = decoded.bad,
                       .pushes_and_jumps = decoded.pushes_and_jumps,
                       .changed = is_start || limit_met_ ? ~std::uint64_t{0} : changed_[index],
                       .visited = state};
      if (!call(context, at)) return;
      if (!passes(index, block, state)) break;
      index = index_at(decoded.instruction.address + decoded.instruction.length);
      if (index == no_index || code_[index].leader) break;
      state.move_to(index);
    }
  }
  (void)pay(0);
}

/// The target of a return: the word that SP points to, else the register that the instruction names.
Value Analysis::return_address(const Instruction& instruction, const State& state) const {
  if (abi_->fixed_ra_offset != 0 && !returns_by_jump(instruction, state))
    return state.word(state.reg(abi_->sp));
  return state.reg(instruction.jump_register == Effect::none ? abi_->ra : instruction.jump_register);
}

Exit Analysis::exit_of_return(const Instruction& instruction, const State& state) const {
  const Value sp = state.reg(abi_->sp), wanted = Value::entry(abi_->ra);
  const bool pops = abi_->fixed_ra_offset != 0, has_popped = pops && returns_by_jump(instruction, state);
  const Value ra = return_address(instruction, state);
  if (sp.base == Value::Base::conflict || sp.base == Value::Base::symbol || ra.base == Value::Base::unknown ||
      ra.base == Value::Base::conflict)
    return Exit::returns_unknown;
  const bool height_is_right = sp == Value::cfa(has_popped ? 0 : -abi_->entry_cfa_offset);
  if (height_is_right && authenticated(ra) == wanted) return Exit::returns;
  // push, ret: a jump. So is a return whose address the function has replaced.
  const bool is_replaced = height_is_right && function_.rows.empty();
  const bool is_pushed = plus(sp, 8) == Value::cfa(-abi_->entry_cfa_offset);
  if (pops && !has_popped && state.last_store == sp && (is_replaced || is_pushed))
    return Exit::indirect_tail_call;
  return Exit::returns_wrong;
}

Exit Analysis::exit_of(const Decoded& decoded, VisitedState& state) const {
  const Instruction& instruction = decoded.instruction;
  switch (instruction.flow) {
  case Flow::jump:
  case Flow::branch: return contains(instruction.target) ? Exit::none : Exit::tail_call;
  case Flow::indirect_jump:
  case Flow::indirect_branch:
    if (returns_by_jump(instruction, state.get())) return exit_of_return(instruction, state.get());
    if (decoded.unresolved) return Exit::indirect_unknown;
    return is_entry_like(state.get(), *abi_) ? Exit::indirect_tail_call : Exit::none;
  case Flow::ret:
  case Flow::conditional_return:
    if (!jumps_like_return(instruction, state.get())) return exit_of_return(instruction, state.get());
    return decoded.unresolved ? Exit::indirect_unknown : Exit::none;
  case Flow::stop: return Exit::stops;
  case Flow::next:
    return calls_system(instruction) && is_system_call(instruction, state.get(), machine_->last_system_calls)
               ? Exit::stops
               : Exit::none;
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
    if (at < end && end_of_literals(at) < end) gaps_.push_back({function_.start + at, function_.start + end});
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
std::span<const std::uint64_t> Results::executed() const {
  return analysis_ ? analysis_->executed() : std::span<const std::uint64_t>{};
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
