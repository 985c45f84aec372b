// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by SFrame rows. A row says CFA, RA and FP; all other registers of the caller are unknown afterwards,
// even those that calls keep, because the function may have saved and changed them without a word in the row.

#include "steppers/catalogue.h"
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
    return rules.found ? apply(rules, frame, memory, caller) : StepResult::not_mine();
  }

private:
  void look_up(const FrameState& frame, Memory& memory, SframeRules& rules) const;
  StepResult apply(const SframeRules& rules, const FrameState& frame, Memory& memory,
                   FrameState& caller) const;

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

/// Computes rules of one frame; keeps the first failure.
class Evaluator {
public:
  Evaluator(const FrameState& frame, Memory& memory) : frame_(frame), memory_(memory) {}

  void set_cfa(std::uint64_t cfa) { cfa_ = cfa; }
  StepResult failure() const { return failure_; }

  /// Puts the rule's value into `value`; `own` is the register for which the rule is. False where it cannot
  /// be told.
  bool compute(const Rule& rule, std::uint16_t own, std::uint64_t& value) {
    if (rule.kind == Rule::Kind::same) return in_register(own, value);
    if (rule.kind != Rule::Kind::value && rule.kind != Rule::Kind::stored)
      return fail(StopReason::bad_table, 0);
    if (rule.base == Rule::cfa_base)
      value = cfa_;
    else if (!in_register(rule.base, value))
      return false;
    value += static_cast<std::uint64_t>(std::int64_t{rule.offset});
    if (rule.kind == Rule::Kind::value) return true;
    const std::uint64_t address = value;
    return memory_.load(address, value) || fail(StopReason::unreadable_memory, address);
  }

private:
  bool in_register(std::uint16_t reg, std::uint64_t& value) {
    if (!frame_.registers.has(reg)) return fail(StopReason::unknown_register, reg);
    value = frame_.registers.values[reg];
    return true;
  }
  bool fail(StopReason reason, std::uint64_t detail) {
    if (failure_.status != StepStatus::error) failure_ = StepResult::failed(reason, detail);
    return false;
  }

  const FrameState& frame_;
  Memory& memory_;
  std::uint64_t cfa_ = 0;
  StepResult failure_;
};

StepResult SframeStepper::apply(const SframeRules& rules, const FrameState& frame, Memory& memory,
                                FrameState& caller) const {
  const FrameRow& row = rules.row;
  if (row.is_outermost()) return {.status = StepStatus::bottom, .reason = StopReason::bottom};
  if (row.cfa.base == Rule::cfa_base) return StepResult::failed(StopReason::bad_table);
  Evaluator evaluator(frame, memory);
  std::uint64_t cfa = 0, ra = 0, fp = 0;
  if (!evaluator.compute(row.cfa, abi_.sp, cfa)) return evaluator.failure();
  evaluator.set_cfa(cfa);
  if (!evaluator.compute(row.ra, abi_.ra, ra)) return evaluator.failure();

  caller.registers.known = 0;
  caller.registers.set(abi_.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa}));
  // A frame pointer that is lost ends the walk only if it is needed.
  if (evaluator.compute(row.fp, abi_.fp, fp)) caller.registers.set(abi_.fp, fp);
  caller.registers.pc = ra;
  caller.pc_exact = rules.signal_frame;
  return {.status = StepStatus::stepped, .signal_frame = rules.signal_frame, .has_cfa = true, .cfa = cfa};
}

} // namespace

std::unique_ptr<FrameStepper> make_sframe_stepper(const AbiTraits& abi) {
  return std::make_unique<SframeStepper>(abi);
}

} // namespace sframe::walk
