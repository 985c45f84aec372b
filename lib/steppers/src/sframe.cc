// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by SFrame rows.

#include "catalogue.h"
#include "sframe/unwind/row_step.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/trampoline.h"

#include "sframe/unwind/rule_source.h"

namespace sframe::steppers {

namespace {

struct SframeRules {
  FrameRow row;
  bool found = false;
  bool signal_frame = false;
};

class SframeStepper final : public CataloguedStepper<sframe_info> {
public:
  explicit SframeStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const SframeRules& rules = cache_.find(unwind::RuleKey(frame, memory.space().generation()),
                                           [&](SframeRules& made) { look_up(frame, memory, made); });
    if (!rules.found) return unwind::StepResult::not_applicable();
    return step_by_row(rules.row, rules.signal_frame, abi_, frame, memory, caller);
  }

private:
  void look_up(const unwind::FrameState& frame, unwind::Memory& memory, SframeRules& rules) const;

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  unwind::RuleCache<SframeRules> cache_;
};

void SframeStepper::look_up(const unwind::FrameState& frame, unwind::Memory& memory,
                            SframeRules& rules) const {
  rules.found = false;
  unwind::RuleSource* source = memory.space().rules_at(frame.lookup_pc());
  if (!source) return;
  const auto answer = source->find_sframe(frame.lookup_pc());
  if (!answer || !applies(*answer, frame, unwind_, memory)) return;
  rules = {answer->row, true, answer->signal_frame};
}

} // namespace

std::unique_ptr<unwind::FrameStepper> make_sframe_stepper(const AbiTraits& abi) {
  return std::make_unique<SframeStepper>(abi);
}

} // namespace sframe::steppers
