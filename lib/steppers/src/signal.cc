// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal frames found by the trampoline's bytes, for C libraries without tables for theirs. All registers
// come from the signal frame.

#include "catalogue.h"
#include "sframe/unwind/trampoline.h"

namespace sframe::steppers {

namespace {

class SignalStepper final : public CataloguedStepper<signal_info> {
public:
  explicit SignalStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const unwind::SignalTrampoline* trampoline = unwind::find_trampoline(unwind_, memory, frame.registers.pc);
    if (!trampoline) return unwind::StepResult::not_applicable();
    return unwind::step_by_trampoline(*trampoline, abi_, frame, memory, caller);
  }

private:
  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_signal_stepper(const AbiTraits& abi) {
  return std::make_unique<SignalStepper>(abi);
}

} // namespace sframe::steppers
