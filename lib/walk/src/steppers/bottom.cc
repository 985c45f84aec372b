// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bottom of the stack where no table says so: the function at the program's entry point was called by
// nobody. Tables that mark it come first; this is for programs whose entry has none.

#include "steppers/catalogue.h"

#include "sframe/walk/module.h"

namespace sframe::walk {

namespace {

class BottomStepper final : public CataloguedStepper<bottom_info> {
public:
  explicit BottomStepper(Module* main) : main_(main) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState&) override {
    if (!main_ || memory.space().module_at(frame.lookup_pc()) != main_ || !main_->image())
      return StepResult::not_mine();
    // How far the function reaches, only symbols tell.
    const auto entry = main_->find_symbol(main_->image()->entry());
    const auto here = main_->find_symbol(frame.lookup_pc() - main_->bias());
    if (!entry || !here || entry->offset != 0 || entry->symbol != here->symbol) return StepResult::not_mine();
    return {.status = StepStatus::bottom, .reason = StopReason::bottom};
  }

private:
  Module* main_;
};

} // namespace

std::unique_ptr<FrameStepper> make_bottom_stepper(Module* main) {
  return std::make_unique<BottomStepper>(main);
}

} // namespace sframe::walk
