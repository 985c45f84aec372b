// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a run: certain edges from the entry, doubtful landing pads, guesses, and the rows of unreached
// code. Within each of these, the blocks of the work list are run until it is empty.

#include "analysis.h"

#include "sframe/base/address_ranges.h"
#include "sframe/base/budget.h"

#include <algorithm>

namespace sframe::code {

Analysis::Analysis(const AbiTraits& abi, Of what)
    : subject_(abi), effort_(subject_), code_(subject_, effort_), blocks_(subject_, code_, effort_),
      tables_(subject_, code_, effort_), transfer_(subject_, code_, tables_), joins_(subject_, effort_),
      guesses_(code_, effort_), ends_(subject_, code_, transfer_, effort_),
      callees_(subject_, code_, effort_),
      executor_(subject_, code_, blocks_, transfer_, tables_, joins_, ends_, callees_),
      arrivals_(subject_, code_, blocks_, joins_, guesses_, ends_, effort_),
      answers_(subject_, code_, blocks_, tables_, joins_, ends_, executor_, effort_) {
  subject_.is_callee = what == Of::callees;
}

void Analysis::reset(const Function& function) {
  subject_.set(function);
  effort_.reset();
  code_.reset();
  blocks_.reset();
  tables_.reset();
  transfer_.reset();
  joins_.forget_flow();
  guesses_.forget_flow();
  ends_.reset();
  callees_.reset();
  arrivals_.reset();
  answers_.reset();
}

/// Resets the data flow; decoded instructions, and which calls do not return, are kept.
void Analysis::forget_flow() {
  code_.forget_flow();
  blocks_.forget_flow();
  joins_.forget_flow();
  guesses_.forget_flow();
  arrivals_.forget_flow();
}

void Analysis::run(const Function& function) {
  reset(function);
  if (!code_.can_decode() || subject_.size == 0) return answers_.prepare();
  if (function.budget && function.budget->is_used_up(Resource::code_steps)) {
    effort_.meet_limit();
    return answers_.prepare();
  }
  blocks_.discover(function.start + function.entry_offset);
  for (const CallSite& site : function.call_sites)
    if (subject_.contains(site.landing_pad)) blocks_.discover(site.landing_pad);
  do {
    if (arrivals_.must_restart()) forget_flow();
    start();
    follow_doubtful_pads();
    follow_guesses();
    start_at_known_rows();
  } while (arrivals_.must_restart());
  answers_.prepare();
  (void)effort_.pay(); // a visit pays for the rest
}

/// The word that a rule names may hold anything, unless it is below SP or known.
void Analysis::forget_word(const Rule& rule, State& entry) const {
  if (rule.kind != Rule::Kind::stored || rule.base != Rule::cfa_base) return;
  const Value place = Value::cfa(rule.offset), sp = entry.reg(subject_.abi.sp);
  const bool is_kept = sp.base == Value::Base::cfa && place.offset >= sp.offset;
  if (is_kept && entry.word(place) == Value::other()) entry.store(place, Value::unknown());
}

State Analysis::entry_state() const {
  const auto& [abi, machine, function, size, is_callee] = subject_;
  State entry = State::at_entry(function.entry, abi, machine);
  for (std::uint16_t reg = 0; reg < machine.num_registers; ++reg) {
    const Value& value = entry.reg(reg);
    const bool is_preserved = value == Value::entry(reg) && reg != abi.fp && reg != abi.ra;
    if ((function.unknown_at_start >> reg & 1) && (value == Value::other() || is_preserved))
      entry.set_reg(reg, Value::unknown());
  }
  if (function.fp_at_start) entry.set_reg(abi.fp, Value::cfa(*function.fp_at_start));
  if (function.may_start_inside)
    for (const FrameRow& row : function.rows)
      for (const Rule& rule : {row.ra, row.fp}) forget_word(rule, entry);
  if (is_callee) // find out which registers it preserves
    for (std::uint16_t reg = 0; reg < machine.num_registers; ++reg)
      if (reg != abi.sp && reg != machine.shadow_stack_register) entry.set_reg(reg, Value::entry(reg));
  return entry;
}

/// All that control surely reaches from the entry.
void Analysis::start() {
  const State entry = entry_state();
  // A cold part that starts with a landing pad has a no-operation before it, since 0 means that there is no
  // pad.
  const std::uint64_t begin = subject_.function.start + subject_.function.entry_offset;
  const std::uint64_t after = code_.after_padding(begin);
  const bool starts_with_pad = after != begin && ends_.rows_show_end(begin + 1, after, entry, entry);
  if (!starts_with_pad) arrivals_.jump(begin, entry, 0);
  run_waiting();
}

void Analysis::run_waiting() {
  while (!blocks_.to_run().empty() && !arrivals_.must_restart()) run_next();
}

/// Runs the first block of the work list; none is left where the limit is met.
void Analysis::run_next() {
  if (effort_.may_run()) return run(blocks_[blocks_.to_run().take()]);
  effort_.meet_limit();
  blocks_.to_run().give_up();
}

/// Blocks that were divided when more was decoded run again. What is a block of its own now is as certain as
/// before.
void Analysis::run_divided_blocks() {
  while (!blocks_.to_run().empty() && !arrivals_.must_restart()) {
    arrivals_.set_certainty(blocks_[blocks_.to_run().first()].certainty);
    run_next();
  }
}

/// Executes a block from its state, up to where it ends.
void Analysis::run(Block& block) {
  ++block.visits;
  State state = block.in;
  std::uint32_t index = block.first;
  std::uint32_t call = no_index; // with only padding after it
  for (;;) {
    effort_.add();
    blocks_.reach(block, index, state);
    if (!executor_.step(index, state, &arrivals_)) return;
    const Instruction& instruction = code_[index].instruction;
    if (instruction.flow == Flow::call || instruction.flow == Flow::indirect_call ||
        instruction.flow == Flow::trap)
      call = index;
    else if (!instruction.is_nop)
      call = no_index;
    const std::uint64_t next = instruction.address + instruction.length;
    if (!subject_.contains(next)) {
      code_[index].runs_off = call == no_index;
      return;
    }
    const std::uint32_t next_index = code_.at(next);
    // What only the start of the next function does: this block is never reached, and ends without code.
    if (next_index != no_index && !subject_.has_rows() && ends_.signs_again(code_[next_index], state))
      return arrivals_.guess(std::span(&next, 1), state, index);
    if (next_index == no_index || blocks_.ends_before(block, next_index))
      return call == no_index ? arrivals_.fall(next, state, index)
                              : arrivals_.fall_from_call(next, state, call);
    index = next_index;
  }
}

/// Landing pads reached only from calls whose frame differs from that of the pad's row.
void Analysis::follow_doubtful_pads() {
  arrivals_.drop_reached_pads();
  for (std::size_t i = 0; i < arrivals_.num_doubtful_pads() && !arrivals_.must_restart(); ++i) {
    arrivals_.unwind_anyway(i);
    run_waiting();
  }
}

/// Once everything certain is known, uncertain edges are followed to code without a state. Where a guess
/// leads into a certain block, or to code that jumps into one, that is divided first: all of it stays
/// certain.
void Analysis::follow_guesses() {
  while (!guesses_.empty() && !arrivals_.must_restart()) {
    for (const std::uint64_t target : guesses_.next_targets()) (void)blocks_.make_leader(target);
    run_divided_blocks();
    arrivals_.set_certainty(Certainty::guessed);
    if (arrivals_.must_restart()) break;
    guesses_.take([&](std::uint64_t target, const State& state, std::uint32_t from) {
      arrivals_.jump(target, state, from);
      return !arrivals_.must_restart();
    });
    run_waiting();
  }
  arrivals_.set_certainty(Certainty::certain);
}

/// Where the reached block, or the data, at an offset ends; the offset if there is neither.
std::uint64_t Analysis::covered_from(std::uint64_t offset) const {
  const std::uint64_t end = blocks_.end_of_block(offset);
  return end != 0 ? end : blocks_.end_of_literals(offset);
}

/// Unreached code, mostly cold parts that other parts of the function jump to. Its row is assumed to hold at
/// its start.
void Analysis::start_at_known_rows() {
  const std::span<const FrameRow> rows = subject_.function.rows;
  if (rows.empty()) return;
  for (std::uint64_t at = 0; at < subject_.size && !arrivals_.must_restart() && !effort_.limit_met();) {
    if (const std::uint64_t end = covered_from(at); end != at) {
      at = end;
      continue;
    }
    const std::uint64_t address = subject_.function.start + at;
    if (code_.at(address) == no_index) {
      blocks_.discover(address);
      run_divided_blocks();
    }
    const std::uint32_t index = code_.at(address);
    if (code_[index].bad) { // of unknown length: the next place where an instruction surely starts is a row's
      const auto next = std::ranges::upper_bound(rows, at, {}, &FrameRow::offset);
      at = next == rows.end() ? subject_.size : next->offset;
      continue;
    }
    const std::uint32_t length = code_[index].instruction.length;
    if (!blocks_.is_reached(index) && !code_[index].instruction.is_nop) assume_row(index);
    at += length;
  }
  arrivals_.set_certainty(Certainty::certain);
}

void Analysis::assume_row(std::uint32_t index) {
  const std::uint64_t address = code_[index].instruction.address;
  const FrameRow* const row =
      last_not_above(subject_.function.rows, subject_.offset_of(address), &FrameRow::offset);
  if (!row) return;
  arrivals_.set_certainty(Certainty::assumed);
  arrivals_.jump(address, State::at_entry(*row, subject_.abi, subject_.machine), index);
  run_waiting();
  follow_guesses();
}

} // namespace sframe::code
