// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/compare.h"

namespace sframe::unwind {

const char* name(ComparedValue value) {
  switch (value) {
  case ComparedValue::cfa: return "cfa";
  case ComparedValue::pc: return "pc";
  case ComparedValue::fp: return "fp";
  }
  return "";
}

Comparison::Comparison(AddressSpace& space, StepperList steppers)
    : memory_(space), fp_(space.abi().fp), steppers_(std::move(steppers)), answers_(steppers_.size()) {}

void Comparison::begin() {
  started_ = false;
  results_.clear();
  for (const auto& stepper : steppers_) results_.push_back({.stepper = stepper.get()});
}

bool Comparison::frame(const Frame& frame, const Registers& registers) {
  if (started_) compare_frame(frame.pc, registers.get(fp_));
  started_ = true;
  last_ = frame;
  ask(frame, registers);
  return true;
}

void Comparison::end(const WalkEnd& end) {
  if (started_ && end.complete) compare_frame(0, std::nullopt);
}

void Comparison::ask(const Frame& frame, const Registers& registers) {
  const FrameState state{registers, frame.pc_exact, frame.after_fault};
  for (std::size_t i = 0; i < steppers_.size(); ++i) {
    FrameState caller;
    const StepResult result = steppers_[i]->step(state, memory_, caller);
    Answer& answer = answers_[i] = {};
    answer.given = result.status == StepStatus::stepped || result.status == StepStatus::bottom;
    if (!answer.given) continue;
    results_[i].trust = result.trust;
    if (result.has_cfa) answer.cfa = result.cfa;
    if (result.status == StepStatus::bottom) continue;
    answer.pc = memory_.code_address(caller.registers.pc);
    answer.fp = caller.registers.get(fp_);
  }
}

/// Compares the answers for the last frame with the walk's.
void Comparison::compare_frame(std::uint64_t pc, std::optional<std::uint64_t> fp) {
  for (std::size_t i = 0; i < steppers_.size(); ++i) {
    const Answer& answer = answers_[i];
    if (!answer.given) continue;
    StepperComparison& result = results_[i];
    ++result.answered;
    std::optional<Difference> difference;
    const auto compare = [&](ComparedValue what, std::optional<std::uint64_t> found,
                             std::optional<std::uint64_t> expected) {
      if (!difference && found && expected && *found != *expected)
        difference = Difference{last_.number, what, *found, *expected};
    };
    compare(ComparedValue::pc, answer.pc, pc);
    // For the outermost frame, some tables have a CFA and others do not.
    if (pc != 0)
      compare(ComparedValue::cfa, answer.cfa, last_.has_cfa ? std::optional(last_.cfa) : std::nullopt);
    compare(ComparedValue::fp, answer.fp, fp);
    if (!difference) continue;
    ++result.differs;
    if (!result.first) result.first = difference;
  }
}

} // namespace sframe::unwind
