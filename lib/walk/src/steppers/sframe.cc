// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by SFrame rows.

#include "steppers/catalogue.h"
#include "steppers/row_step.h"
#include "steppers/rule_cache.h"
#include "steppers/trampoline.h"

#include "sframe/walk/module.h"

namespace sframe::walk {

namespace {

struct SframeRules {
  FrameRow row;
  bool found = false;
  bool signal_frame = false;
};

class SframeStepper final : public CataloguedStepper<sframe_info> {
public:
  explicit SframeStepper(const AbiTraits& abi) : abi_(abi), unwind_(*find_unwind_abi(abi.id)) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const SframeRules& rules = cache_.find(frame, [&](SframeRules& made) { look_up(frame, memory, made); });
    if (!rules.found) return StepResult::not_mine();
    return step_by_row(rules.row, rules.signal_frame, abi_, frame, memory, caller);
  }

private:
  void look_up(const FrameState& frame, Memory& memory, SframeRules& rules) const;

  const AbiTraits& abi_;
  const UnwindAbi& unwind_;
  RuleCache<SframeRules> cache_;
};

void SframeStepper::look_up(const FrameState& frame, Memory& memory, SframeRules& rules) const {
  rules.found = false;
  Module* module = memory.space().module_at(frame.lookup_pc());
  if (!module) return;
  const auto answer = module->tables().find_sframe(frame.lookup_pc() - module->bias());
  if (!answer || is_next_to_trampoline(frame, answer->ends_here, unwind_, memory)) return;
  rules = {answer->row, true, answer->signal_frame};
}

} // namespace

std::unique_ptr<FrameStepper> make_sframe_stepper(const AbiTraits& abi) {
  return std::make_unique<SframeStepper>(abi);
}

} // namespace sframe::walk
