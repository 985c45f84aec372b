// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives the engine from the entry to a fixed point.

#include "engine.h"
#include "values.h"

#include "sframe/base/budget.h"
#include "sframe/code/row_check.h"

#include <algorithm>
#include <functional>

namespace sframe::code {
namespace {

/// Symbols that State::at_entry() may use.
constexpr std::uint16_t first_free_symbol = 8;

/// Limit of work per byte of code; a function that exceeds it is abandoned. Compilers' code needs less than
/// 2, with few exceptions (15).
constexpr std::uint64_t max_work_per_byte = 32;
constexpr std::uint64_t min_work = 1 << 16;
/// Callees are many, and small.
constexpr std::uint64_t min_work_of_callee = 1 << 12;

/// What a run costs in steps, in addition to work: always, for each guess, for the registers of each join of
/// two states, and for tables that have an entry per byte.
constexpr std::uint64_t steps_per_run = 16;
constexpr std::uint64_t steps_per_guess = 18;
constexpr std::uint64_t registers_per_join_step = 4;
constexpr std::uint64_t bytes_per_step = 64;
constexpr std::size_t max_guesses = 1 << 14;

} // namespace

Analysis::Analysis(const AbiTraits& abi)
    : abi_(&abi), machine_(&machine(abi)), decoder_(sframe::code::make_decoder(abi)) {}

Analysis::~Analysis() = default;

void Analysis::reset(const Function& function) {
  function_ = function;
  size_ = std::min(function.bytes.size(), Analyzer::max_function_size);
  code_.clear();
  changed_.clear();
  effects_.clear();
  index_of_.assign(size_, no_index);
  in_line_.clear();
  tables_.clear();
  obstacles_.clear();
  executed_.clear();
  order_.clear();
  work_ = 0;
  joins_ = 0;
  guesses_made_ = 0;
  paid_ = 0;
  restarts_ = 0;
  known_callee_.reset();
  limit_met_ = out_of_steps_ = guesses_returns_ = false;
  num_symbols_ = first_free_symbol;
  forget_flow();
}

/// Resets the data flow; decoded instructions, and which calls do not return, are kept.
void Analysis::forget_flow() {
  num_blocks_ = 0;
  queue_.clear();
  conflicts_.clear();
  guesses_.clear();
  guessed_targets_.clear();
  pending_guesses_.clear();
  doubtful_pads_.clear();
  literals_.clear();
  mode_ = Certainty::certain;
  restart_ = false;
  for (Decoded& decoded : code_) {
    decoded.block = decoded.owner = decoded.guess = no_index;
    decoded.sp_lost = decoded.unresolved = decoded.runs_off = false;
  }
}

void Analysis::run(const Function& function) {
  reset(function);
  if (!decoder_ || size_ == 0) return collect_obstacles();
  if (function_.budget && function_.budget->is_used_up(Resource::code_steps)) {
    limit_met_ = true;
    return collect_obstacles();
  }
  discover(function_.start + function_.entry_offset);
  for (const CallSite& site : function_.call_sites)
    if (contains(site.landing_pad)) discover(site.landing_pad);
  do {
    if (restart_) {
      ++restarts_;
      forget_flow();
    }
    start();
    follow_doubtful_pads();
    follow_guesses();
    start_at_known_rows();
  } while (restart_);
  order_blocks();
  collect_obstacles();
  (void)pay(steps_on_credit); // a visit pays for the rest
}

std::uint64_t Analysis::cost() const {
  return steps_per_run + work_ + steps_per_decoding * code_.size() + steps_per_guess * guesses_made_ +
         joins_ * (machine_->num_registers / registers_per_join_step) + size_ / bytes_per_step;
}

/// Pays for what was done since the last time if that is more than `credit`. False if the budget is used up.
bool Analysis::pay(std::uint64_t credit) {
  const std::uint64_t owed = cost() - paid_;
  if (!function_.budget || owed <= credit) return true;
  paid_ += owed;
  return function_.budget->take(Resource::code_steps, owed);
}

void Analysis::start() {
  State entry = State::at_entry(function_.entry, *abi_, *machine_);
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg) {
    const Value& value = entry.reg(reg);
    const bool is_preserved = value == Value::entry(reg) && reg != abi_->fp && reg != abi_->ra;
    if ((function_.unknown_at_start >> reg & 1) && (value == Value::other() || is_preserved))
      entry.set_reg(reg, Value::unknown());
  }
  if (function_.fp_at_start) entry.set_reg(abi_->fp, Value::cfa(*function_.fp_at_start));
  if (is_callee_) // find out which registers it preserves
    for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
      if (reg != abi_->sp && reg != machine_->shadow_stack_register) entry.set_reg(reg, Value::entry(reg));
  // A cold part that starts with a landing pad has a no-operation before it, since 0 means that there is no
  // pad.
  const std::uint64_t begin = function_.start + function_.entry_offset, after = after_padding(begin);
  const bool starts_with_pad = after != begin && rows_show_no_return(begin + 1, after, entry, entry);
  if (!starts_with_pad) propagate(begin, entry, 0, Edge::jump);
  drain();
}

void Analysis::drain() {
  while (!queue_.empty() && !restart_) process_next();
}

/// Runs the first block of the queue; none is left where the limit is met.
void Analysis::process_next() {
  const std::uint64_t limit = (is_callee_ ? min_work_of_callee : min_work) + max_work_per_byte * size_;
  if (work_ > limit || !pay(steps_on_credit)) {
    limit_met_ = true;
    return queue_.clear();
  }
  std::ranges::pop_heap(queue_, std::greater(), &BlockAt::address);
  const std::uint32_t block = queue_.back().block;
  queue_.pop_back();
  blocks_[block].queued = false;
  process(block);
}

/// Blocks that discover() has divided run again. What is a block of its own now is as certain as before.
void Analysis::run_divided_blocks() {
  while (!queue_.empty() && !restart_) {
    mode_ = blocks_[queue_.front().block].certainty;
    process_next();
  }
}

void Analysis::guess(std::uint32_t from, const State& state, std::span<const std::uint64_t> targets) {
  if (code_[from].guess == no_index) {
    if (guesses_.size() >= max_guesses) {
      limit_met_ = true;
      return;
    }
    code_[from].guess = static_cast<std::uint32_t>(guesses_.size());
    guesses_.emplace_back();
  }
  ++guesses_made_;
  Guess& guess = guesses_[code_[from].guess];
  guess.from = from;
  guess.state = state;
  if (!guess.pending) pending_guesses_.push_back(code_[from].guess);
  guess.pending = true;
  if (guess.num_targets != targets.size()) {
    guess.first_target = static_cast<std::uint32_t>(guessed_targets_.size());
    guess.num_targets = static_cast<std::uint32_t>(targets.size());
    guessed_targets_.insert(guessed_targets_.end(), targets.begin(), targets.end());
  }
}

/// Once everything certain is known, uncertain edges are followed to code without a state.
void Analysis::follow_guesses() {
  mode_ = Certainty::guessed;
  while (!pending_guesses_.empty() && !restart_) {
    Guess& guess = guesses_[pending_guesses_.back()];
    pending_guesses_.pop_back();
    guess.pending = false;
    const State state = guess.state;
    const std::uint32_t from = guess.from, end = guess.first_target + guess.num_targets;
    for (std::uint32_t i = guess.first_target; i < end && !restart_; ++i)
      propagate(guessed_targets_[i], state, from, Edge::jump);
    drain();
  }
  mode_ = Certainty::certain;
}

/// The end of the block that starts at the offset, if all of it is reached; else 0.
std::uint64_t Analysis::end_of_block(std::uint64_t offset) const {
  const std::uint32_t index = index_of_[offset];
  if (index == no_index || code_[index].block == no_index || limit_met_) return 0;
  const Block& block = blocks_[code_[index].block];
  return block.visits ? block.end : 0;
}

/// The end of the data that an instruction jumps over if the offset is in it; else the offset.
std::uint64_t Analysis::end_of_literals(std::uint64_t offset) const {
  const auto after = literals_.upper_bound(offset);
  return after == literals_.begin() ? offset : std::max(offset, std::prev(after)->second);
}

/// Unreached code, mostly cold parts that other parts of the function jump to. Its row is assumed to hold at
/// its start.
void Analysis::start_at_known_rows() {
  if (function_.rows.empty()) return;
  for (std::uint64_t at = 0; at < size_ && !restart_ && !limit_met_;) {
    if (const std::uint64_t end = end_of_block(at)) {
      at = end;
      continue;
    }
    if (const std::uint64_t end = end_of_literals(at); end != at) {
      at = end;
      continue;
    }
    if (index_of_[at] == no_index) {
      discover(function_.start + at);
      run_divided_blocks();
    }
    const std::uint32_t index = index_of_[at];
    const Instruction instruction = code_[index].instruction;
    if (code_[index].bad) { // of unknown length: the next place where an instruction surely starts is a row's
      const auto next = std::ranges::upper_bound(function_.rows, at, {}, &FrameRow::offset);
      at = next == function_.rows.end() ? size_ : next->offset;
      continue;
    }
    if (code_[index].owner == no_index && !instruction.is_nop) {
      if (const FrameRow* const row = last_not_above(function_.rows, at, &FrameRow::offset)) {
        mode_ = Certainty::assumed;
        propagate(instruction.address, State::at_entry(*row, *abi_, *machine_), index, Edge::jump);
        drain();
        follow_guesses();
      }
    }
    at += instruction.length;
    if (!code_[index].bad) continue;
    // Where the instruction after one that is not known starts, only rows show.
    const auto next = std::ranges::lower_bound(function_.rows, at, {}, &FrameRow::offset);
    at = next == function_.rows.end() ? size_ : next->offset;
  }
  mode_ = Certainty::certain;
}

void Analysis::process(std::uint32_t block) {
  Block& executed = blocks_[block]; // a deque: it stays
  ++executed.visits;
  State state = executed.in;
  std::uint32_t index = executed.first;
  std::uint32_t call = no_index; // with only padding after it
  for (;;) {
    ++work_;
    code_[index].owner = block;
    code_[index].steps_of_words = static_cast<std::uint8_t>(state.slots().size() / words_per_step);
    changed_[index] = state.take_changed();
    executed.end = static_cast<std::uint32_t>(code_[index].instruction.address - function_.start) +
                   code_[index].instruction.length;
    if (!step(index, state, true)) return;
    const Instruction& instruction = code_[index].instruction;
    if (instruction.flow == Flow::call || instruction.flow == Flow::indirect_call ||
        instruction.flow == Flow::trap)
      call = index;
    else if (!instruction.is_nop)
      call = no_index;
    const std::uint64_t next = instruction.address + instruction.length;
    if (!contains(next)) {
      code_[index].runs_off = call == no_index;
      return;
    }
    const std::uint32_t next_index = index_at(next);
    const bool joins_another =
        next_index != no_index && code_[next_index].owner != no_index && code_[next_index].owner != block;
    if (next_index == no_index || code_[next_index].leader || joins_another)
      return call == no_index ? propagate(next, state, index, Edge::fall)
                              : propagate(next, state, call, Edge::after_call);
    index = next_index;
  }
}

/// step(), for instructions after which control may go elsewhere than to the next one.
bool Analysis::step_control(std::uint32_t index, State& state, bool follow_edges) {
  const Instruction& instruction = code_[index].instruction;
  if (follow_edges && instruction.executes != Executes::nothing) execute_elsewhere(code_[index], state);
  if (is_system_call(instruction, state, machine_->last_system_calls)) return false;
  const bool may_switch_stack = is_thread_start(code_[index].instruction, state);
  apply(code_[index], state);
  if (may_switch_stack) {
    const std::uint64_t next = code_[index].instruction.address + code_[index].instruction.length;
    if (follow_edges && contains(next)) guess(index, state, std::span(&next, 1));
    return false;
  }
  if (follow_edges) leave(index, state);
  return !restart_ && continues(index, state, follow_edges);
}

/// True for a system call of which the number is known and one of `calls`.
bool Analysis::is_system_call(const Instruction& instruction, const State& state,
                              std::span<const std::int32_t> calls) const {
  const auto is_in = [&](std::int32_t number) { return std::ranges::find(calls, number) != calls.end(); };
  if (instruction.system_call >= 0) return is_in(instruction.system_call);
  if (instruction.system_call_register == Effect::none) return false;
  const Value number = state.reg(instruction.system_call_register);
  return number.base == Value::Base::constant && is_in(number.offset);
}

/// clone and the like: what follows may run on another stack. Where there are rows, they tell.
bool Analysis::is_thread_start(const Instruction& instruction, const State& state) const {
  return function_.rows.empty() && is_system_call(instruction, state, machine_->thread_system_calls);
}

/// Follows the edges to places other than the next instruction.
void Analysis::leave(std::uint32_t index, State& state) {
  const Instruction instruction = code_[index].instruction;
  switch (instruction.flow) {
  case Flow::jump:
    if (contains(instruction.target)) {
      if (instruction.link_register != Effect::none)
        literals_[instruction.address + instruction.length - function_.start] =
            instruction.target - function_.start;
      // Perhaps a tail call: FP and RA were popped, and where they were is free for the callee. Rows show
      // where the function ends.
      const bool may_be_call = function_.rows.empty() || instruction.target == function_.start;
      if (may_be_call && is_entry_like(state, *abi_))
        for (const std::uint16_t reg : {abi_->fp, abi_->ra})
          if (reg < machine_->num_registers) state.drop_below(state.reg(abi_->sp), Value::entry(reg));
      propagate(instruction.target, state, index, Edge::jump);
    }
    return;
  case Flow::branch:
    if (contains(instruction.target)) {
      if (state.compare.reg == Effect::none) return propagate(instruction.target, state, index, Edge::jump);
      State taken = state;
      if (refine(instruction, true, taken)) propagate(instruction.target, taken, index, Edge::jump);
    }
    return;
  case Flow::indirect_jump:
  case Flow::indirect_branch: return jump_indirectly(index, state);
  case Flow::ret:
  case Flow::conditional_return:
    if (jumps_like_return(instruction, state)) jump_indirectly(index, state);
    return;
  case Flow::patchable:
    if (contains(instruction.target)) guess(index, state, std::span(&instruction.target, 1));
    return;
  default: return;
  }
}

/// s390x: `br %r14` returns, but compilers also use r14 for jump tables.
bool Analysis::jumps_like_return(const Instruction& instruction, const State& state) const {
  if (instruction.jump_register == Effect::none) return false;
  const Value to = state.reg(instruction.jump_register);
  return to.base == Value::Base::table || (is_number(to) && contains(number_of(to, function_.start)));
}

/// True for an indirect jump to the return address: s390x code that loads it into another register than r14,
/// as compilers do for processors before z13; AMD64 code that pops it into one (clang -mlvi-hardening:
/// `pop %rcx; lfence; jmp *%rcx`).
bool Analysis::returns_by_jump(const Instruction& instruction, const State& state) const {
  if (instruction.flow != Flow::indirect_jump && instruction.flow != Flow::indirect_branch) return false;
  const bool is_on_stack = abi_->fixed_ra_offset != 0; // a jump through memory loads into RA's column
  if (is_on_stack && instruction.jump_register == abi_->ra) return false;
  return instruction.jump_register != Effect::none &&
         state.reg(instruction.jump_register) == Value::entry(abi_->ra);
}

/// True if control may reach the next instruction; `state` becomes the state there.
bool Analysis::continues(std::uint32_t index, State& state, bool follow_edges) {
  const Instruction& instruction = code_[index].instruction;
  switch (instruction.flow) {
  case Flow::next:
  case Flow::patchable:
  case Flow::indirect_branch:
  case Flow::conditional_return: return true;
  case Flow::trap: return continues_after_trap(index, state);
  case Flow::branch: return refine(instruction, false, state);
  case Flow::call:
  case Flow::indirect_call: return continues_after_call(index, state, follow_edges);
  case Flow::jump:
  case Flow::indirect_jump:
  case Flow::ret:
  case Flow::stop: return false;
  }
  return false;
}

bool Analysis::continues_after_call(std::uint32_t index, State& state, bool follow_edges) {
  const Instruction instruction = code_[index].instruction;
  const std::uint64_t next = instruction.address + instruction.length;
  if (is_internal_call(instruction)) {
    State inside = state;
    enter_internal_call(code_[index], inside);
    if (instruction.target == next) { // gets its own address
      state = inside;
      return true;
    }
    if (follow_edges && code_[index].pushes_and_jumps)
      propagate(instruction.target, inside, index, Edge::jump);
    else if (follow_edges)
      guess(index, inside, std::span(&instruction.target, 1));
  }
  if (function_.rows.empty()) { // what needs the state before, which is large, needs rows
    call(code_[index], state);
    if (follow_edges) follow_call_edges(index, state);
    if (is_known_not_to_return(code_[index])) return false;
    if (!may_not_return(instruction, state)) return true;
    guesses_returns_ = true;
    if (follow_edges && contains(next)) guess(index, state, std::span(&next, 1));
    return false;
  }
  const State before = state;
  call(code_[index], state);
  apply_known_callee(instruction, before, state);
  if (follow_edges) follow_call_edges(index, state);
  if (is_known_not_to_return(code_[index])) return false;
  if (rows_show_no_return(next, after_padding(next), before, state)) {
    code_[index].does_not_return = true;
    return false;
  }
  return true;
}

/// True if the call may not return. Code after it is then guessed.
bool Analysis::may_not_return(const Instruction& instruction, const State& after) {
  if (!function_.environment) return false;
  const std::uint64_t next = instruction.address + instruction.length;
  const auto target = instruction.flow == Flow::call ? std::optional(instruction.target) : std::nullopt;
  return function_.environment->may_not_return(target, next, {.is_marked = starts_function(next, after)});
}

/// True if what follows a call starts as only a function does.
bool Analysis::starts_function(std::uint64_t next, const State& after) {
  constexpr int max_instructions = 16;
  std::uint64_t address = after_padding(next);
  std::uint32_t index = index_at(address);
  if (index == no_index) return false;
  if (code_[index].instruction.marks_start) return true;
  const Value fp = after.reg(abi_->fp);
  const bool has_frame = fp.base == Value::Base::cfa;
  const bool has_link = abi_->fixed_ra_offset == 0;
  if (!has_frame && !has_link) return false;
  State state = after;
  for (int i = 0; i < max_instructions; ++i) {
    if (index == no_index || code_[index].bad || code_[index].instruction.flow != Flow::next) return false;
    ++work_;
    Decoded decoded = code_[index];
    if (has_link && saves_lost_link(decoded, state)) return true;
    apply(decoded, state);
    if (has_frame && state.reg(abi_->fp) != fp) return starts_frame(fp, state);
    address += decoded.instruction.length;
    index = index_at(address);
  }
  return false;
}

/// True if a second frame record was made, one that points to the record of this function.
bool Analysis::starts_frame(const Value& fp, const State& state) const {
  const Value now = state.reg(abi_->fp);
  return now.base == Value::Base::cfa && now.offset < fp.offset && state.word(now) == fp;
}

/// True if an instruction stores or signs the return address in the link register, where a call has just put
/// another one: only a function that was called does so.
bool Analysis::saves_lost_link(const Decoded& decoded, const State& state) const {
  if (state.reg(abi_->ra) != Value::other()) return false;
  for (std::uint32_t i = 0; i < decoded.num_effects; ++i) {
    const Effect& effect = effects_[decoded.first_effect + i];
    if (effect.reg != abi_->ra) continue;
    if (effect.kind == Effect::Kind::sign) return true;
    if (effect.kind == Effect::Kind::store) return effect.source == abi_->sp;
    if (effect.kind != Effect::Kind::compare) return false; // it is a register like others now
  }
  return false;
}

/// True if an instruction signs the return address in the link register where that is signed already, or
/// lost.
bool Analysis::signs_again(const Decoded& decoded, const State& state) const {
  const Value& link = state.reg(abi_->ra);
  if (link != Value::other() && !(link.base == Value::Base::entry && link.flag)) return false;
  const auto effects = std::span(effects_).subspan(decoded.first_effect, decoded.num_effects);
  return std::ranges::any_of(effects, [&](const Effect& effect) {
    return effect.kind == Effect::Kind::sign && effect.reg == abi_->ra;
  });
}

bool Analysis::is_known_not_to_return(const Decoded& decoded) const {
  return decoded.does_not_return || decoded.calls_trap ||
         (decoded.instruction.flow == Flow::call && function_.environment &&
          function_.environment->never_returns(decoded.instruction.target));
}

bool Analysis::continues_after_trap(std::uint32_t index, const State& state) {
  Decoded& decoded = code_[index];
  const std::uint64_t next = decoded.instruction.address + decoded.instruction.length;
  if (rows_show_no_return(next, after_padding(next), state, state)) decoded.does_not_return = true;
  return !decoded.does_not_return;
}

/// The first instruction at or after `address` that is not padding.
std::uint64_t Analysis::after_padding(std::uint64_t address) const {
  constexpr int max_padding = 64;
  for (int i = 0; i < max_padding; ++i) {
    const std::uint32_t index = index_at(address);
    if (index == no_index || !code_[index].instruction.is_nop) break;
    address += code_[index].instruction.length;
  }
  return address;
}

/// True if a row starts after a call, or after the padding there, and does not fit.
bool Analysis::rows_show_no_return(std::uint64_t next, std::uint64_t after_padding, const State& before,
                                   const State& after) const {
  const FrameRow* const row =
      last_not_above(function_.rows, after_padding - function_.start, &FrameRow::offset);
  if (!row || row->offset < next - function_.start) return false;
  const auto fits = [&](const State& state) {
    const Agreement worst = check(*row, state, *abi_).worst();
    return worst == Agreement::agrees || worst == Agreement::unknown;
  };
  return !fits(before) && !fits(after);
}

void Analysis::follow_call_edges(std::uint32_t index, const State& after) {
  const std::uint64_t address = code_[index].instruction.address;
  const auto site = std::ranges::upper_bound(function_.call_sites, address, {}, &CallSite::begin);
  if (site == function_.call_sites.begin()) return;
  const CallSite& candidate = site[-1];
  if (address < candidate.end && contains(candidate.landing_pad))
    propagate_to_pad(candidate.landing_pad, after, index);
}

void Analysis::order_blocks() {
  for (std::uint32_t i = 0; i < num_blocks_; ++i)
    if (blocks_[i].visits)
      order_.push_back({code_[blocks_[i].first].instruction.address, i}); // else: a limit was reached first
  std::ranges::sort(order_, {}, &BlockAt::address);
}

void Analysis::collect_obstacles() {
  using Kind = Obstacle::Kind;
  for (const Decoded& decoded : code_) {
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
  if (limit_met_ || !decoder_ || size_ < function_.bytes.size())
    obstacles_.push_back({Kind::limit, function_.start});
}

} // namespace sframe::code
