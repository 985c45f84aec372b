// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code without tables: the effect of its instructions on the stack, from the function's start to the frame's
// pc.

#include "catalogue.h"

#include "sframe/steppers/code_frames.h"

namespace sframe::steppers {

namespace {

class AnalysisStepper final : public CataloguedStepper<analysis_info> {
public:
  explicit AnalysisStepper(const AbiTraits& abi) : frames_(abi) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const CodeFrame* code = frames_.find(frame, memory);
    return code ? CodeFrames::step(*code, frame, memory, caller) : unwind::StepResult::not_applicable();
  }

private:
  CodeFrames frames_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_analysis_stepper(const AbiTraits& abi) {
  return std::make_unique<AnalysisStepper>(abi);
}

} // namespace sframe::steppers
