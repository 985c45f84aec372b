// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by DWARF CFI: .eh_frame or .debug_frame of the module. Recovers the registers in the row and the
// call-saved ones; signal frames (augmentation 'S') have all.

#include "catalogue.h"
#include "sframe/unwind/compiled_row.h"
#include "sframe/unwind/plain_row.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/trampoline.h"

#include "sframe/unwind/rule_source.h"

#include <memory>
#include <utility>

namespace sframe::steppers {

namespace {

struct CfiRules {
  enum class Kind : std::uint8_t { none, plain, compiled };
  unwind::PlainRow plain;
  std::unique_ptr<unwind::CompiledRow> compiled; ///< reused for the next address that needs one
  Kind kind = Kind::none;
};

class CfiStepper final : public CataloguedStepper<cfi_info> {
public:
  explicit CfiStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  bool recovers_all_registers() const override { return true; }

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const CfiRules& rules = cache_.find(unwind::RuleKey(frame, memory.space().generation()),
                                        [&](CfiRules& made) { look_up(frame, memory, made); });
    if (rules.kind == CfiRules::Kind::plain) return rules.plain.apply(frame, memory, abi_, caller);
    if (rules.kind == CfiRules::Kind::none) return unwind::StepResult::not_applicable();
    return rules.compiled->apply(frame, memory, abi_, unwind_, caller);
  }

  unwind::PositionAnswer at_position(const unwind::FrameState& frame, unwind::Memory& memory,
                                     unwind::PlainRow& row) override {
    const unwind::RuleKey key(frame, memory.space().generation());
    CfiRules rules;
    look_up(frame, memory, rules);
    if (rules.kind == CfiRules::Kind::none) return unwind::PositionAnswer::not_applicable;
    if (rules.kind == CfiRules::Kind::plain) {
      row = rules.plain;
      return unwind::PositionAnswer::plain_row;
    }
    cache_.insert(key, std::move(rules)); // for step()
    return unwind::PositionAnswer::unknown;
  }

private:
  void look_up(const unwind::FrameState& frame, unwind::Memory& memory, CfiRules& rules) {
    rules.kind = CfiRules::Kind::none;
    unwind::RuleSource* source = memory.space().rules_at(frame.lookup_pc());
    if (!source || !source->find_cfi(frame.lookup_pc(), answer_)) return;
    if (!applies(answer_, frame, unwind_, memory)) return;
    if (answer_.ends_stack_at_calls && !frame.pc_exact) answer_.row.forget_return_address();
    if (rules.plain.compile(answer_, abi_, unwind_)) {
      rules.kind = CfiRules::Kind::plain;
      return;
    }
    if (!rules.compiled) rules.compiled = std::make_unique<unwind::CompiledRow>();
    rules.compiled->compile(answer_, abi_);
    rules.kind = CfiRules::Kind::compiled;
  }

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  unwind::RuleCache<CfiRules> cache_;
  unwind::CfiMatch answer_; ///< large, so reused
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_cfi_stepper(const AbiTraits& abi) {
  return std::make_unique<CfiStepper>(abi);
}

} // namespace sframe::steppers
