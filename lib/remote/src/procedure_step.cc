// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "procedure_step.h"

#include "sframe/unwind/abi.h"
#include "sframe/unwind/row_step.h"

namespace sframe::remote {

namespace {

/// The save location of register `own_number` according to the rule.
unwind::SaveLocation locate(const Rule& rule, std::uint16_t own_number, const unwind::FrameState& frame,
                            std::uint64_t cfa, const unwind::SaveLocations& own) {
  if (rule.kind == Rule::Kind::same && own_number < unwind::Registers::count) return own.get(own_number);
  if (rule.kind != Rule::Kind::stored) return {};
  const auto base = rule.base == Rule::cfa_base ? std::optional(cfa) : frame.registers.get(rule.base);
  if (!base) return {};
  return {unwind::SaveLocation::Kind::memory, *base + static_cast<std::uint64_t>(std::int64_t{rule.offset})};
}

} // namespace

RemoteStatus step_by_procedure(CallbackView& view, unwind::Memory& memory, const unwind::FrameState& frame,
                               unwind::FrameState& caller, unwind::StepResult& result,
                               const unwind::SaveLocations* own, unwind::SaveLocations* locations) {
  RemoteStatus status;
  const auto rules = view.find_rules(frame, memory, status);
  if (!rules) return status;
  const AbiTraits& abi = view.abi();
  const unwind::UnwindAbi& unwind = *unwind::find_unwind_abi(abi.id);
  result = rules->by_row ? step_by_row(rules->row, rules->signal_frame, abi, frame, memory, caller)
                         : rules->compiled.apply(frame, memory, abi, unwind, caller);
  if (result.status != unwind::StepStatus::stepped || !locations) return status;
  if (!rules->by_row) {
    rules->compiled.locate(frame, memory, abi, unwind, result.cfa, *own, *locations);
    return status;
  }
  locations->in_memory = locations->in_register = 0;
  locations->set(abi.fp, locate(rules->row.fp, abi.fp, frame, result.cfa, *own));
  locations->set(unwind::SaveLocations::pc, locate(rules->row.ra, abi.ra, frame, result.cfa, *own));
  return status;
}

namespace {

class ProcedureStepper final : public unwind::FrameStepper {
public:
  std::string_view name() const override { return procedure_stepper_name; }
  std::string_view description() const override { return "unwind information from the target's callbacks"; }
  int priority() const override { return 5; }
  bool recovers_all_registers() const override { return true; }

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    auto* view = dynamic_cast<CallbackView*>(&memory.space());
    if (!view) return unwind::StepResult::not_applicable();
    unwind::StepResult result;
    switch (step_by_procedure(*view, memory, frame, caller, result, nullptr, nullptr)) {
    case RemoteStatus::ok: return result;
    case RemoteStatus::no_info: return unwind::StepResult::not_applicable();
    case RemoteStatus::stop_unwind:
      return {.status = unwind::StepStatus::bottom, .reason = unwind::StopReason::bottom};
    default: return unwind::StepResult::failed(unwind::StopReason::bad_table);
    }
  }
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_procedure_stepper(const AbiTraits&) {
  return std::make_unique<ProcedureStepper>();
}

} // namespace sframe::remote
