// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code without tables, by what its instructions do to the stack from the function's start to the frame's pc.

#include "steppers/catalogue.h"

#include "sframe/walk/code_frames.h"

namespace sframe::walk {

namespace {

class AnalysisStepper final : public CataloguedStepper<analysis_info> {
public:
  explicit AnalysisStepper(const AbiTraits& abi) : frames_(abi) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const CodeFrame* code = frames_.find(frame, memory);
    return code ? CodeFrames::step(*code, frame, memory, caller) : StepResult::not_mine();
  }

private:
  CodeFrames frames_;
};

} // namespace

std::unique_ptr<FrameStepper> make_analysis_stepper(const AbiTraits& abi) {
  return std::make_unique<AnalysisStepper>(abi);
}

} // namespace sframe::walk
