// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by DWARF CFI: .eh_frame or .debug_frame of the module. Recovers every register that the row gives or
// that calls keep; signal frames (augmentation 'S') give all.

#include "steppers/catalogue.h"
#include "steppers/compiled_row.h"
#include "steppers/plain_row.h"
#include "steppers/rule_cache.h"
#include "steppers/trampoline.h"

#include "sframe/walk/module.h"

namespace sframe::walk {

namespace {

struct CfiRules {
  enum class Kind : std::uint8_t { none, plain, compiled };
  PlainRow plain;
  std::unique_ptr<CompiledRow> compiled; ///< kept for the next address that needs one
  Kind kind = Kind::none;
};

class CfiStepper final : public CataloguedStepper<cfi_info> {
public:
  explicit CfiStepper(const AbiTraits& abi) : abi_(abi), unwind_(*find_unwind_abi(abi.id)) {}

  bool recovers_all_registers() const override { return true; }

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const CfiRules& rules = cache_.find(frame, [&](CfiRules& made) { look_up(frame, memory, made); });
    if (rules.kind == CfiRules::Kind::plain) return rules.plain.apply(frame, memory, abi_, caller);
    if (rules.kind == CfiRules::Kind::none) return StepResult::not_mine();
    return rules.compiled->apply(frame, memory, abi_, unwind_, caller);
  }

private:
  void look_up(const FrameState& frame, Memory& memory, CfiRules& rules) {
    rules.kind = CfiRules::Kind::none;
    Module* module = memory.space().module_at(frame.lookup_pc());
    if (!module || !module->tables().find_cfi(frame.lookup_pc() - module->bias(), answer_)) return;
    if (!answer_.signal_frame && is_next_to_trampoline(frame, answer_.ends_here, unwind_, memory)) return;
    if (rules.plain.compile(answer_, unwind_)) {
      rules.kind = CfiRules::Kind::plain;
      return;
    }
    if (!rules.compiled) rules.compiled = std::make_unique<CompiledRow>();
    rules.compiled->compile(answer_);
    rules.kind = CfiRules::Kind::compiled;
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
