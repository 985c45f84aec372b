// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps by the function table of Go's linker, by which Go's runtime itself walks stacks (gentraceback() in
// src/runtime/traceback.go, unwinder in later versions). The frame pointer is where Go's compiler saves it
// (src/cmd/internal/obj/x86/obj6.go, arm64/obj7.go; there is none in s390x/objz.go).

#include "catalogue.h"
#include "go_frames.h"
#include "guess.h"
#include "sframe/steppers/code_frames.h"
#include "sframe/unwind/row_step.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/rule_source.h"

#include <limits>
#include <optional>

namespace sframe::steppers {

namespace {

constexpr std::int32_t word = 8;

struct GoRules {
  enum class Kind : std::uint8_t { none, row, interrupted, bottom, system_stack, unknown_stack };
  FrameRow row;
  std::uint64_t function = 0;
  Kind kind = Kind::none;
  std::uint8_t injected_size = 0; ///< GoMatch::injected_size
};

class GoTableStepper final : public CataloguedStepper<go_table_info> {
public:
  explicit GoTableStepper(const AbiTraits& abi)
      : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)), code_(abi) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const GoRules& rules = cache_.find(unwind::RuleKey(frame, memory.space().generation()),
                                       [&](GoRules& made) { look_up(frame, memory, made); });
    switch (rules.kind) {
    case GoRules::Kind::none: return unwind::StepResult::not_applicable();
    case GoRules::Kind::bottom:
      return {.status = unwind::StepStatus::bottom, .reason = unwind::StopReason::bottom};
    case GoRules::Kind::system_stack: return leave_system_stack(rules.function, frame, memory, caller);
    case GoRules::Kind::unknown_stack: return unknown_stack();
    case GoRules::Kind::row:
    case GoRules::Kind::interrupted: break;
    }
    const auto result = unwind::step_by_row(rules.row, false, abi_, frame, memory, caller);
    caller.pc_exact = rules.kind == GoRules::Kind::interrupted;
    if (rules.injected_size && result.status == unwind::StepStatus::stepped)
      restore_interrupted(abi_, rules.injected_size, memory, caller);
    return result;
  }

private:
  /// The walk ends: what is on this stack does not belong to the frame.
  static unwind::StepResult unknown_stack() {
    return {
        .status = unwind::StepStatus::bottom, .may_skip = true, .reason = unwind::StopReason::frames_missing};
  }

  /// In AMD64's frames the return address is above what the table counts.
  bool is_amd64() const { return abi_.fixed_ra_offset != 0; }
  void look_up(const unwind::FrameState& frame, unwind::Memory& memory, GoRules& rules);
  FrameRow row_of(const unwind::GoMatch& match) const;
  void use_code(const unwind::FrameState& frame, unwind::Memory& memory, bool sets_sp, GoRules& rules);
  unwind::StepResult leave_system_stack(std::uint64_t function, const unwind::FrameState& frame,
                                        unwind::Memory& memory, unwind::FrameState& caller) const;

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  CodeFrames code_;
  unwind::RuleCache<GoRules> cache_;
};

/// Compiled code, at its calls.
FrameRow GoTableStepper::row_of(const unwind::GoMatch& match) const {
  const auto size = static_cast<std::int32_t>(match.frame_size);
  const std::int32_t cfa = abi_.entry_cfa_offset + size; // above SP
  FrameRow row;
  row.cfa = Rule::value(abi_.sp, cfa);
  row.ra = is_amd64() ? Rule::at_cfa(-word) : size ? Rule::at_cfa(-cfa) : Rule::same();
  if (!match.saves_fp)
    row.fp = Rule::undefined();
  else
    row.fp = size == 0 ? Rule::same() : Rule::at_cfa((is_amd64() ? -word : -cfa) - word);
  return row;
}

/// What was pushed for the call of an injected function is below its caller's frame.
void move_cfa(FrameRow& row, std::uint8_t size) {
  row.cfa.offset += size;
  for (Rule* const rule : {&row.ra, &row.fp})
    if (rule->base == Rule::cfa_base) rule->offset -= size;
}

void GoTableStepper::look_up(const unwind::FrameState& frame, unwind::Memory& memory, GoRules& rules) {
  using Kind = unwind::GoMatch::Kind;
  constexpr std::uint32_t largest = std::numeric_limits<std::int32_t>::max() / 2;
  rules.kind = GoRules::Kind::none;
  unwind::RuleSource* const source = memory.space().rules_at(frame.lookup_pc());
  const auto match = source ? source->find_go(frame.lookup_pc()) : std::nullopt;
  if (!match || match->frame_size > largest) return;
  rules.injected_size = match->injected_size;
  rules.function = match->start;
  if (match->kind == Kind::top || (match->kind == Kind::no_return && !frame.pc_exact)) {
    rules.kind = GoRules::Kind::bottom;
    return;
  }
  // It calls that function by a pointer, and others directly, on the same stack.
  if (match->kind == Kind::system_stack && !frame.pc_exact && is_amd64() &&
      !target_of_call(unwind_, memory, frame.registers.pc)) {
    rules.kind = GoRules::Kind::system_stack;
    return;
  }
  rules.kind = match->kind == Kind::interrupted ? GoRules::Kind::interrupted : GoRules::Kind::row;
  rules.row = row_of(*match);
  if (frame.pc_exact || match->is_assembly || match->sets_sp) use_code(frame, memory, match->sets_sp, rules);
  move_cfa(rules.row, match->injected_size);
}

/// Between the instructions of a prologue, and in assembly, the code shows where the frame pointer is, and
/// whether the function has left its stack.
void GoTableStepper::use_code(const unwind::FrameState& frame, unwind::Memory& memory, bool sets_sp,
                              GoRules& rules) {
  const CodeFrame* const code = code_.find(frame, memory);
  const bool agrees = code && code->row.cfa == rules.row.cfa;
  if (agrees)
    rules.row = code->row;
  else if (sets_sp)
    rules.kind = GoRules::Kind::unknown_stack;
  else
    rules.row.fp = Rule::undefined();
}

/// systemstack() calls a function on the system stack of the thread and leaves the frame pointer, so that it
/// is still that of the function F that called systemstack(). Its return address is in F's frame, which the
/// table says the size of: below the frame pointer by just that size. Values of frames that have ended may
/// look the same, but F's own return address follows a call of F.
unwind::StepResult GoTableStepper::leave_system_stack(std::uint64_t function, const unwind::FrameState& frame,
                                                      unwind::Memory& memory,
                                                      unwind::FrameState& caller) const {
  constexpr std::uint64_t most = 1 << 16; // bytes of F's frame
  const auto fp = frame.registers.get(abi_.fp);
  if (!fp || *fp % word) return unknown_stack();
  const auto return_of_caller = memory.word(*fp + word);
  if (!return_of_caller || !follows_call(unwind_, memory, *return_of_caller)) return unknown_stack();
  const auto called = target_of_call(unwind_, memory, *return_of_caller);
  for (std::uint64_t size = word; size <= most; size += word) {
    const auto value = memory.word(*fp - size);
    if (!value) break;
    if (!memory.space().is_code(*value) || target_of_call(unwind_, memory, *value) != function) continue;
    unwind::RuleSource* const source = memory.space().rules_at(*value - 1);
    const auto match = source ? source->find_go(*value - 1) : std::nullopt;
    if (!match || match->frame_size != size || (called && *called != match->start)) continue;
    caller.registers.known = 0;
    caller.registers.set(abi_.sp, *fp - size + word);
    caller.registers.set(abi_.fp, *fp);
    caller.registers.pc = *value;
    caller.pc_exact = false;
    return {.status = unwind::StepStatus::stepped,
            .trust = called ? unwind::Trust::exact : unwind::Trust::heuristic,
            .other_stack = true};
  }
  return unknown_stack();
}

} // namespace

std::unique_ptr<unwind::FrameStepper> make_go_table_stepper(const AbiTraits& abi) {
  return std::make_unique<GoTableStepper>(abi);
}

} // namespace sframe::steppers
