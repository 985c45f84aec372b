// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by SFrame rows.

#include "catalogue.h"
#include "go_frames.h"
#include "sframe/unwind/plain_row.h"
#include "sframe/unwind/row_step.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/trampoline.h"

#include "sframe/unwind/rule_source.h"

#include <optional>

namespace sframe::steppers {

namespace {

class SframeStepper final : public CataloguedStepper<sframe_info> {
public:
  explicit SframeStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const auto& match = cache_.find(unwind::RuleKey(frame, memory.space().generation()),
                                    [&](auto& made) { made = look_up(frame, memory); });
    if (!match) return unwind::StepResult::not_applicable();
    const auto result = step_by_row(match->row, match->signal_frame, abi_, frame, memory, caller);
    if (match->injected_size && result.status == unwind::StepStatus::stepped)
      restore_interrupted(abi_, match->injected_size, memory, caller);
    if (match->signal_frame && result.status == unwind::StepStatus::stepped)
      restore_all(frame, memory, caller);
    return result;
  }

  unwind::PositionAnswer at_position(const unwind::FrameState& frame, unwind::Memory& memory,
                                     unwind::PlainRow& row) override {
    const unwind::RuleKey key(frame, memory.space().generation());
    const auto match = look_up(frame, memory);
    if (!match) return unwind::PositionAnswer::not_applicable;
    if (row.compile(*match, abi_)) return unwind::PositionAnswer::plain_row;
    cache_.insert(key, match); // for step()
    return unwind::PositionAnswer::unknown;
  }

private:
  std::optional<unwind::SframeMatch> look_up(const unwind::FrameState& frame, unwind::Memory& memory) const;
  void restore_all(const unwind::FrameState& frame, unwind::Memory& memory, unwind::FrameState& caller) const;

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  unwind::RuleCache<std::optional<unwind::SframeMatch>> cache_;
};

std::optional<unwind::SframeMatch> SframeStepper::look_up(const unwind::FrameState& frame,
                                                          unwind::Memory& memory) const {
  unwind::RuleSource* source = memory.space().rules_at(frame.lookup_pc());
  if (!source) return std::nullopt;
  auto match = source->find_sframe(frame.lookup_pc());
  if (match && !applies(*match, frame, unwind_, memory)) match.reset();
  return match;
}

/// Rows restore SP, FP and the pc. What was interrupted may need another register, as leaf functions of
/// AArch64 do: the kernel has saved all of them there.
void SframeStepper::restore_all(const unwind::FrameState& frame, unwind::Memory& memory,
                                unwind::FrameState& caller) const {
  const unwind::SignalTrampoline* const trampoline = find_trampoline(unwind_, memory, frame.registers.pc);
  unwind::FrameState saved;
  if (!trampoline ||
      step_by_trampoline(*trampoline, abi_, frame, memory, saved).status != unwind::StepStatus::stepped)
    return;
  const bool is_same = saved.registers.pc == caller.registers.pc &&
                       saved.registers.get(abi_.sp) == caller.registers.get(abi_.sp);
  if (is_same) caller.registers = saved.registers;
}

} // namespace

std::unique_ptr<unwind::FrameStepper> make_sframe_stepper(const AbiTraits& abi) {
  return std::make_unique<SframeStepper>(abi);
}

} // namespace sframe::steppers
