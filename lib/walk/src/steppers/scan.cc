// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last resort: a look up the stack for a word that follows a call. Stacks are full of return addresses of
// calls that are long over, so a word counts only if its own caller makes sense: its function's CFI leads to
// another return address that follows a call, or to the bottom. Frames may be passed over all the same, so a
// walk that comes here is never called complete.
//
// Only where calls store the return address at a fixed place of the frame (AMD64): elsewhere the word would
// not tell the CFA.

#include "steppers/catalogue.h"
#include "steppers/guess.h"

namespace sframe::walk {

namespace {

class ScanStepper final : public CataloguedStepper<scan_info> {
public:
  explicit ScanStepper(const AbiTraits& abi)
      : abi_(abi), unwind_(*find_unwind_abi(abi.id)), cfi_(make_cfi_stepper(abi)) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    constexpr std::uint64_t word_size = 8, longest_scan = 1024;
    const auto sp = frame.registers.get(abi_.sp);
    if (!abi_.fixed_ra_offset || !sp || *sp % word_size) return StepResult::not_mine();
    for (std::uint64_t i = 0; i < longest_scan; ++i) {
      const std::uint64_t slot = *sp + i * word_size;
      const auto word = memory.word(slot);
      if (!word) break;
      if (!follows_call(unwind_, memory, *word)) continue;
      const StepResult result = take(frame, slot, *word, caller);
      if (makes_sense(caller, memory)) return result;
    }
    return StepResult::not_mine();
  }

private:
  StepResult take(const FrameState& frame, std::uint64_t slot, std::uint64_t word, FrameState& caller) const {
    const std::uint64_t cfa = offset_by(slot, -abi_.fixed_ra_offset);
    caller.registers.known = 0;
    // Most code leaves FP alone; one that points into frames that are over is none.
    if (const auto fp = frame.registers.get(abi_.fp); fp && *fp >= cfa) caller.registers.set(abi_.fp, *fp);
    StepResult result = guessed_call(caller, abi_, word, cfa);
    result.may_skip = true;
    return result;
  }

  bool makes_sense(const FrameState& caller, Memory& memory) {
    FrameState next;
    const StepResult result = cfi_->step(caller, memory, next);
    if (result.status == StepStatus::stepped)
      return next.registers.pc == 0 || follows_call(unwind_, memory, next.registers.pc);
    return result.status != StepStatus::error;
  }

  const AbiTraits& abi_;
  const UnwindAbi& unwind_;
  std::unique_ptr<FrameStepper> cfi_;
};

} // namespace

std::unique_ptr<FrameStepper> make_scan_stepper(const AbiTraits& abi) {
  return std::make_unique<ScanStepper>(abi);
}

} // namespace sframe::walk
