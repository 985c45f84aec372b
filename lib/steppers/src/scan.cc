// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last resort: searches up the stack for the trace of a call (UnwindAbi::call_trace): a word that
// follows a call, on AArch64 with a frame pointer next to it, on s390x with the saved stack pointer. Stacks
// are full of traces of finished calls, so one is accepted only if its own caller is plausible: its
// function's CFI leads to another return address that follows a call, or to the outermost frame. Frames may
// still be skipped, so the walk is never reported as complete.

#include "catalogue.h"
#include "guess.h"

namespace sframe::steppers {

namespace {

class ScanStepper final : public CataloguedStepper<scan_info> {
public:
  explicit ScanStepper(const AbiTraits& abi)
      : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)), cfi_(make_cfi_stepper(abi)) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    constexpr std::uint64_t word_size = 8, longest_scan = 1024;
    const auto sp = frame.registers.get(abi_.sp);
    if (!sp || *sp % word_size) return unwind::StepResult::not_applicable();
    // In bytes of code: 32 words cost as much as 8 bytes, a trace as much as 8.
    constexpr std::uint64_t at_once = 32, cost_of_these = 8, cost_of_trace = 8;
    for (std::uint64_t i = 0; i < longest_scan; ++i) {
      const std::uint64_t address = *sp + i * word_size;
      if (i % at_once == 0 && !memory.space().may_guess(cost_of_these)) break;
      if (!memory.word(address)) break;
      unwind::StepResult result = step_by_trace(address, frame, memory, abi_, unwind_, caller);
      if (result.status != unwind::StepStatus::stepped) continue;
      if (!memory.space().may_guess(cost_of_trace)) break;
      if (!makes_sense(caller, memory)) continue;
      result.may_skip = true;
      return result;
    }
    return unwind::StepResult::not_applicable();
  }

private:
  bool makes_sense(const unwind::FrameState& caller, unwind::Memory& memory) {
    unwind::FrameState next;
    const unwind::StepResult result = cfi_->step(caller, memory, next);
    if (result.status == unwind::StepStatus::stepped)
      return next.registers.pc == 0 || follows_call(unwind_, memory, next.registers.pc);
    return result.status != unwind::StepStatus::error;
  }

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  std::unique_ptr<unwind::FrameStepper> cfi_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_scan_stepper(const AbiTraits& abi) {
  return std::make_unique<ScanStepper>(abi);
}

} // namespace sframe::steppers
