// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by DWARF CFI: .eh_frame or .debug_frame of the module. Recovers every register that the row gives or
// that calls keep; signal frames (augmentation 'S') give all.

#include "steppers/catalogue.h"
#include "steppers/compiled_row.h"
#include "steppers/rule_cache.h"
#include "steppers/trampoline.h"

#include "sframe/walk/module.h"

namespace sframe::walk {

namespace {

struct CfiRules {
  bool found = false;
  CompiledRow row;
};

class CfiStepper final : public CataloguedStepper<cfi_info> {
public:
  explicit CfiStepper(const AbiTraits& abi) : abi_(abi), unwind_(*find_unwind_abi(abi.id)) {}

  bool recovers_all_registers() const override { return true; }

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const CfiRules& rules = cache_.find(frame, [&](CfiRules& made) { look_up(frame, memory, made); });
    return rules.found ? rules.row.apply(frame, memory, abi_, unwind_, caller) : StepResult::not_mine();
  }

private:
  void look_up(const FrameState& frame, Memory& memory, CfiRules& rules) {
    rules.found = false;
    Module* module = memory.space().module_at(frame.lookup_pc());
    if (!module || !module->tables().find_cfi(frame.lookup_pc() - module->bias(), answer_)) return;
    if (!answer_.signal_frame && is_next_to_trampoline(frame, answer_.ends_here, unwind_, memory)) return;
    rules.row.compile(answer_, unwind_);
    rules.found = true;
  }

  const AbiTraits& abi_;
  const UnwindAbi& unwind_;
  RuleCache<CfiRules> cache_;
  CfiAnswer answer_; ///< large: kept for its space
};

} // namespace

std::unique_ptr<FrameStepper> make_cfi_stepper(const AbiTraits& abi) {
  return std::make_unique<CfiStepper>(abi);
}

} // namespace sframe::walk
