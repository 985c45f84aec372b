// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames without tables, by the frame pointer: FP points to a frame record in code that keeps one. In
// prologues, epilogues and functions without a record, FP is still the caller's, and its record would skip
// the caller: there the code analysis is used. If the code cannot be analysed, the walk is never reported as
// complete.
//
// If the ABI has no frame record but a back chain (s390x), the back chain is used for code that cannot be
// analysed.

#include "catalogue.h"
#include "guess.h"

#include "sframe/steppers/code_frames.h"

#include <algorithm>

namespace sframe::steppers {

namespace {

class FramePointerStepper final : public CataloguedStepper<frame_pointer_info> {
public:
  explicit FramePointerStepper(const AbiTraits& abi)
      : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)), frames_(abi) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const CodeFrame* code = frames_.find(frame, memory);
    unwind::StepResult result;
    if (unwind_.frame_record) {
      if (code && code->setup == FrameSetup::other) return unwind::StepResult::not_applicable();
      if (code && code->setup != FrameSetup::complete) return CodeFrames::step(*code, frame, memory, caller);
      result = by_record(frame, memory, caller);
    } else if (unwind_.back_chain) {
      if (code) return CodeFrames::step(*code, frame, memory, caller);
      result = by_chain(frame, memory, caller);
    }
    result.may_skip = !code; // without an analysis, the record may belong to another frame
    return result;
  }

private:
  unwind::StepResult by_chain(const unwind::FrameState& frame, unwind::Memory& memory,
                              unwind::FrameState& caller) const {
    const auto sp = frame.registers.get(abi_.sp);
    const auto trace = sp ? memory.word(offset_by(*sp, *unwind_.back_chain)) : std::nullopt;
    if (!trace || *trace % sizeof *trace) return unwind::StepResult::not_applicable();
    return step_by_trace(*trace, frame, memory, abi_, unwind_, caller);
  }

  unwind::StepResult by_record(const unwind::FrameState& frame, unwind::Memory& memory,
                               unwind::FrameState& caller) const {
    const auto fp = frame.registers.get(abi_.fp), sp = frame.registers.get(abi_.sp);
    const unwind::FrameRecord& record = *unwind_.frame_record;
    if (!fp || !sp || !is_frame_record(*fp, *sp, record, unwind_, memory))
      return unwind::StepResult::not_applicable();
    const auto ra = memory.word(offset_by(*fp, record.return_address)),
               caller_fp = memory.word(offset_by(*fp, record.caller_fp));
    const std::uint64_t return_address = memory.code_address(*ra);

    std::uint64_t cfa = offset_by(*fp, record.cfa);
    // Compilers that do not put the record at the high end of the frame put it at the bottom: the caller's
    // SP is equal to its FP.
    if (record.cfa_at_least) cfa = std::max(cfa, offset_by(*caller_fp, -abi_.sp_from_cfa));
    caller.registers.known = 0;
    caller.registers.set(abi_.fp, *caller_fp);
    return guessed_call(caller, abi_, return_address, cfa);
  }

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  CodeFrames frames_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_frame_pointer_stepper(const AbiTraits& abi) {
  return std::make_unique<FramePointerStepper>(abi);
}

} // namespace sframe::steppers
