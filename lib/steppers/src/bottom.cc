// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outermost frame if no table marks it: the function at the program's entry point has no caller. Tables
// that mark it come first; this is for programs whose entry point has no table.

#include "catalogue.h"

#include "sframe/modules/module.h"

namespace sframe::steppers {

namespace {

class BottomStepper final : public CataloguedStepper<bottom_info> {
public:
  explicit BottomStepper(modules::Module* main) : main_(main) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState&) override {
    if (!main_ || memory.space().rules_at(frame.lookup_pc()) != main_ || !main_->image())
      return unwind::StepResult::not_applicable();
    // Only symbols give the extent of the function.
    const auto entry = main_->symbols().find(modules::LinkAddress(main_->image()->entry()));
    const auto here = main_->symbols().find(main_->link(frame.lookup_pc()));
    if (!entry || !here || entry->offset != 0 || entry->symbol != here->symbol)
      return unwind::StepResult::not_applicable();
    return {.status = unwind::StepStatus::bottom, .reason = unwind::StopReason::bottom};
  }

private:
  modules::Module* main_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_bottom_stepper(modules::Module* main) {
  return std::make_unique<BottomStepper>(main);
}

} // namespace sframe::steppers
