// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steppers are asked in turn, and their answers are checked. Nearly all frames are at positions for which the
// first stepper that applies has a plain row: it is kept, and such frames are stepped in place, without
// asking anyone. Whatever such a step cannot do is left to the steppers, which report why.
//
// In addition to the current frame, the walk keeps
// the first failure of a stepper that covers the frame, for the report, and a checkpoint: the last frame with
// all registers known. SFrame loses registers. If a later frame needs one, the walk repeats the steps from
// the checkpoint with the stepper that recovers all registers. It checks that this reaches the same frame,
// and continues from there. Each frame is repeated at most once.

#include "sframe/unwind/walker.h"

#include "sframe/base/budget.h"
#include "sframe/unwind/trampoline.h"

#include <charconv>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sframe::unwind {

std::string describe(const WalkEnd& end) {
  const auto with = [&](std::string_view before, int base) {
    char digits[24];
    const auto last = std::to_chars(digits, digits + sizeof digits, end.detail, base).ptr;
    return std::string(message(end.reason)) + " (" + std::string(before) + std::string(digits, last) + ")";
  };
  switch (end.reason) {
  case StopReason::no_rule:
  case StopReason::not_code:
  case StopReason::unreadable_memory: return with("0x", 16);
  case StopReason::unknown_register: return with("r", 10);
  default: return message(end.reason);
  }
}

Walker::Walker(AddressSpace& space, StepperGroup steppers)
    : memory_(space), sp_(space.abi().sp), steppers_(std::move(steppers)), budget_(space.budget()) {}

void check_step(const FrameState& frame, const FrameState& caller, std::uint16_t sp_number,
                StepResult& result) {
  const bool same_pc = caller.registers.pc == frame.registers.pc;
  if (!frame.registers.has(sp_number) || !caller.registers.has(sp_number)) {
    if (!result.signal_frame) result = StepResult::failed(StopReason::unknown_register, sp_number);
    return;
  }
  const std::uint64_t sp = frame.registers.values[sp_number], caller_sp = caller.registers.values[sp_number];
  if (caller_sp == sp && same_pc) result = StepResult::failed(StopReason::loop);
  // SP may be unchanged only in two cases: a leaf function whose return address is in a register, and a stub
  // entered by a jump, whose return address is computed from the pc (glibc's _L_lock_ before 2.20).
  else if ((caller_sp < sp || (caller_sp == sp && !frame.pc_exact && !result.same_stack)) &&
           !result.signal_frame && !result.other_stack)
    result = StepResult::failed(StopReason::cfa_not_growing);
}

/// Forgets what is known if the group has changed.
void Walker::check_group() {
  if (known_group_ == steppers_.version()) return;
  known_ = RuleCache<Known>();
  known_group_ = steppers_.version();
}

inline const Walker::Known& Walker::look_up(const FrameState& frame) {
  return known_.find(RuleKey(frame, memory_.space().generation()),
                     [&](Known& known) { learn(frame, known); });
}

void Walker::learn(const FrameState& frame, Known& known) {
  known.is_plain = false;
  const auto members = steppers_.exact();
  for (known.first = 0; known.first < members.size() && known.first < 255; ++known.first) {
    const StepperGroup::Member& member = members[known.first];
    if (!member.covers(frame.lookup_pc())) continue;
    const PositionAnswer answer = member.stepper->at_position(frame, memory_, known);
    known.is_plain = answer == PositionAnswer::plain_row;
    if (answer != PositionAnswer::not_applicable) return;
  }
}

/// One stepper's answer, checked. `result` belongs to the caller, here and below, and the stepper writes it
/// in place: copying it right after partial writes takes a third of the time of a step.
void Walker::ask(FrameStepper& stepper, const FrameState& frame, FrameState& caller, StepResult& result) {
  static_assert(std::is_trivially_destructible_v<StepResult>);
  caller.after_fault = caller.fp_is_guess = false;
  ::new (&result) StepResult(stepper.step(frame, memory_, caller));
  if (!stepper.recovers_all_registers()) caller.registers.keep_vector_granule(frame.registers);
  check(frame, caller, result);
}

void Walker::check(const FrameState& frame, FrameState& caller, StepResult& result) {
  if (result.status != StepStatus::stepped) return;
  caller.registers.pc = memory_.code_address(caller.registers.pc);
  check_step(frame, caller, sp_, result);
  // A heuristic step that does not lead to code is rejected; the next stepper may do better. Signal
  // trampolines count as code at any address: emulators put them outside of executable mappings.
  if (result.trust != Trust::heuristic || result.status != StepStatus::stepped) return;
  const std::uint64_t pc = caller.registers.pc;
  const AbiTraits& abi = memory_.space().abi();
  if (memory_.space().is_code(caller.lookup_pc())) return;
  if (find_trampoline(*find_unwind_abi(abi.id), memory_, pc)) return;
  result = pc ? StepResult::failed(StopReason::not_code, pc) : StepResult::failed(StopReason::zero_pc);
}

void Walker::ask_all(std::span<const StepperGroup::Member> members, const FrameState& frame,
                     FrameState& caller, const FrameStepper*& by, StepResult& result) {
  std::optional<StepResult> failure;
  for (const StepperGroup::Member& member : members) {
    if (!member.covers(frame.lookup_pc())) continue;
    by = member.stepper.get();
    ask(*member.stepper, frame, caller, result);
    if (result.is_final()) return;
    if (result.status == StepStatus::error && !failure) failure = result;
  }
  result = failure.value_or(StepResult::not_applicable());
}

void Walker::find_caller(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                         StepResult& result) {
  if (frame.other_mode)
    result = StepResult::failed(StopReason::other_mode);
  else if (frame.fp_is_guess)
    find_caller_by_guess(frame, caller, by, result);
  else
    ask_in_order(frame, caller, by, result);
  const UnwindAbi& abi = *find_unwind_abi(memory_.space().abi().id);
  caller.other_mode = result.signal_frame && interrupts_other_mode(abi, sp_, frame, memory_);
}

void Walker::ask_in_order(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                          StepResult& result) {
  const Known& known = look_up(frame);
  if (known.is_plain) {
    by = stepper_of(known);
    caller.after_fault = caller.fp_is_guess = false;
    result = known.apply(frame, memory_, memory_.space().abi(), caller);
    check(frame, caller, result);
    if (result.is_final()) return;
  }
  ask_all(steppers_.exact().subspan(known.first), frame, caller, by, result);
  if (result.is_final()) return;
  // If the budget prevented the use of tables, heuristics must not replace them.
  if (is_out_of_budget()) {
    result = StepResult::failed(StopReason::budget);
    return;
  }
  const StepResult failure = result;
  // Before heuristics: try to recover a register that was lost on the way.
  if (failure.reason == StopReason::unknown_register && steppers_.recovering() && since_checkpoint_) {
    recover_and_step(frame, caller, by, result);
    if (result.is_final()) return;
  }
  ask_all(steppers_.heuristic(), frame, caller, by, result);
  if (result.is_final()) return;
  if (is_out_of_budget()) {
    result = StepResult::failed(StopReason::budget);
    return;
  }
  result = failure;
  if (failure.status != StepStatus::error)
    result = StepResult::failed(memory_.space().is_code(frame.lookup_pc()) ? StopReason::no_rule
                                                                           : StopReason::not_code,
                                frame.registers.pc);
}

/// Without the guess first. What needs it is heuristic, but comes before a search; what does not may keep it
/// for the caller. A stepper that checks others knows the return address without the registers.
void Walker::find_caller_by_guess(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                                  StepResult& result) {
  const std::uint16_t fp = memory_.space().abi().fp;
  FrameState without = frame;
  without.registers.forget(fp);
  ask_all(steppers_.exact(), without, caller, by, result);
  const bool is_needed = !result.is_final();
  const bool is_kept = result.status == StepStatus::stepped && !caller.registers.has(fp);
  if (!is_needed && !is_kept) return;
  ask_in_order(frame, caller, by, result);
  if (is_kept)
    caller.fp_is_guess = caller.registers.has(fp);
  else if (result.status == StepStatus::stepped && result.trust == Trust::exact && !by->checks_others())
    result.trust = Trust::heuristic;
}

/// Repeats the walk from the checkpoint to `frame` with the stepper that recovers all registers, then steps
/// from there.
void Walker::recover_and_step(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                              StepResult& result) {
  FrameState state = checkpoint_, next;
  const std::uint32_t count = std::exchange(since_checkpoint_, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    ask(*steppers_.recovering(), state, next, result);
    if (result.status != StepStatus::stepped) return;
    std::swap(state, next);
  }
  if (state.registers.pc != frame.registers.pc || state.registers.get(sp_) != frame.registers.get(sp_)) {
    result = StepResult::failed(StopReason::bad_table);
    return;
  }
  by = steppers_.recovering();
  ask(*steppers_.recovering(), state, caller, result);
}

/// Keeps the last frame with all registers known when a step loses some.
void Walker::note_step(const FrameState& frame, const FrameStepper* by) {
  if (since_checkpoint_ == 0) {
    if (by == steppers_.recovering()) return;
    checkpoint_ = frame;
  }
  ++since_checkpoint_;
}

/// Return addresses are checked by the hardware's own copy of them.
void Walker::check_by_shadow(const FrameState& frame, std::uint32_t number, FrameState& caller,
                             const FrameStepper*& by, StepResult& result) {
  FrameStepper* const checking = steppers_.checking();
  if (!checking || result.status != StepStatus::stepped) {
    caller.shadow = {};
    return;
  }
  const std::uint64_t found = caller.registers.pc;
  const bool is_exact = result.trust == Trust::exact && by != checking;
  if (checking->check(frame, memory_, caller, result)) {
    by = checking;
    caller.registers.keep_vector_granule(frame.registers);
    caller.other_mode = false; // the signal frame was not there
    if (is_exact && !frame.shadow.sp_is_guess && !overwritten_)
      overwritten_ = Overwritten{number, found, caller.registers.pc};
  }
}

WalkEnd Walker::walk(const Registers& start, FrameReceiver& receiver) {
  return walk(FrameState{start, true}, receiver);
}

namespace {

constexpr std::uint32_t frames_at_once = 1024; ///< taken from the budget at once; one by one is slower

} // namespace

/// Takes `frames` from the budget.
bool Walker::may_go_on(std::uint32_t frames) {
  return !budget_ || (budget_->take(Resource::frames, frames) && !is_out_of_budget());
}

bool Walker::is_out_of_budget() const {
  return budget_ && budget_->ends_walks();
}

/// While a walk runs. What an outer walk has kept, and what it has found of a position, stays as it is.
class Walker::Running {
public:
  explicit Running(Walker& walker) : walker_(walker) {
    if (walker.is_walking_)
      outer_.emplace(std::exchange(walker.known_, RuleCache<Known>()), std::exchange(walker.known_group_, 0),
                     walker.checkpoint_, walker.since_checkpoint_, walker.overwritten_);
    walker.is_walking_ = true;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    walker_.is_walking_ = outer_.has_value();
    if (outer_)
      std::tie(walker_.known_, walker_.known_group_, walker_.checkpoint_, walker_.since_checkpoint_,
               walker_.overwritten_) = std::move(*outer_);
  }

private:
  Walker& walker_;
  std::optional<
      std::tuple<RuleCache<Known>, std::uint64_t, FrameState, std::uint32_t, std::optional<Overwritten>>>
      outer_;
};

WalkEnd Walker::walk(const FrameState& start, FrameReceiver& receiver) {
  const Running running(*this);
  std::uint32_t count = 0;
  check_group();
  overwritten_.reset();
  WalkEnd end = walk_frames(start, receiver, count);
  end.overwritten = overwritten_;
  may_go_on(count % frames_at_once);
  return end;
}

/// Steps in place as long as rows are plain. `frame` is the one that `state` belongs to, not reported yet.
/// False if the receiver ends the walk. What ends a walk otherwise, or takes from the budget, is left to
/// walk_frames().
bool Walker::go_plainly(FrameState& state, Frame& frame, FrameReceiver& receiver, std::uint32_t& count) {
  Registers& registers = state.registers;
  for (;;) {
    const Known& known = look_up(state);
    PlainRow::Caller caller;
    if (!known.is_plain || !known.find(registers, memory_, caller)) return true;
    caller.pc = memory_.code_address(caller.pc);
    const bool is_usual = registers.has(sp_) && caller.sp > registers.values[sp_] && caller.pc != 0 &&
                          frame.number + 1 < max_frames_ && (count + 1) % frames_at_once != 0;
    if (!is_usual) return true;
    frame.has_cfa = true;
    frame.cfa = caller.cfa;
    if (!receiver.frame(frame, registers)) return false;
    ++count;
    const FrameStepper* const by = stepper_of(known);
    note_step(state, by);
    known.enter(caller, sp_, memory_, registers);
    state.pc_exact = state.after_fault = false;
    frame = {.number = frame.number + 1, .pc_exact = false, .pc = caller.pc, .found_by = by};
  }
}

WalkEnd Walker::walk_frames(const FrameState& start, FrameReceiver& receiver, std::uint32_t& count) {
  FrameState states[2] = {start, {}};
  FrameState *now = &states[0], *next = &states[1];
  Frame frame{.pc_exact = start.pc_exact, .after_fault = start.after_fault, .pc = start.registers.pc};
  since_checkpoint_ = 0;
  bool may_skip = false;
  StepResult result;
  if (is_out_of_budget()) {
    receiver.frame(frame, now->registers); // the position of the thread costs nothing
    return {false, StopReason::budget, 0};
  }
  for (;;) {
    const bool may_be_plain = !now->shadow.next && !now->fp_is_guess && !now->other_mode;
    if (may_be_plain && !go_plainly(*now, frame, receiver, count)) return {false, StopReason::interrupted, 0};
    const FrameStepper* by = nullptr;
    find_caller(*now, *next, by, result);
    if (now->shadow.next)
      check_by_shadow(*now, frame.number, *next, by, result);
    else
      next->shadow = {};
    frame.has_cfa = result.has_cfa;
    frame.cfa = result.cfa;
    frame.signal_frame = result.signal_frame;
    if (!receiver.frame(frame, now->registers)) return {false, StopReason::interrupted, 0};
    if (++count % frames_at_once == 0 && !may_go_on(frames_at_once)) return {false, StopReason::budget, 0};

    may_skip |= result.may_skip;
    if (result.status == StepStatus::bottom)
      return {!may_skip, may_skip ? StopReason::frames_missing : StopReason::bottom, 0};
    if (result.status != StepStatus::stepped) return {false, result.reason, result.detail};
    if (next->registers.pc == 0) return {result.trust == Trust::exact && !may_skip, StopReason::zero_pc, 0};
    if (frame.number + 1 >= max_frames_) return {false, StopReason::frame_limit, 0};
    note_step(*now, by);
    frame = {.number = frame.number + 1,
             .pc_exact = next->pc_exact,
             .trust = result.trust,
             .pc = next->registers.pc,
             .found_by = by};
    std::swap(now, next);
  }
}

} // namespace sframe::unwind
