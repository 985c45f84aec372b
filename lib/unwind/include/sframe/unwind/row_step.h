// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step by a FrameRow from any source. A row has rules for CFA, RA and FP. All other registers of the
// caller become unknown, even call-saved ones: the function may have changed them, and the row does not show
// where they are saved.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/frame_stepper.h"

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// Computes rules of one frame; keeps the first failure.
class RowEvaluator {
public:
  /// `pc_register` stands for the pc: the RA column if it is not a register. Registers::count: there is
  /// none.
  RowEvaluator(const FrameState& frame, Memory& memory, std::uint16_t pc_register)
      : frame_(frame), memory_(memory), pc_register_(pc_register) {}

  void set_cfa(std::uint64_t cfa) { cfa_ = cfa; }
  StepResult failure() const { return failure_; }

  /// Stores the rule's value in `value`; `own` is the register that the rule is for. False if it cannot be
  /// computed.
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
    if (reg == pc_register_) {
      value = frame_.registers.pc;
      return true;
    }
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
  std::uint16_t pc_register_;
  std::uint64_t cfa_ = 0;
  StepResult failure_;
};

/// Steps to the caller. The row must have no `fixed` rule: they are resolved before.
inline StepResult step_by_row(const FrameRow& row, bool signal_frame, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller) {
  if (row.is_outermost()) return {.status = StepStatus::bottom, .reason = StopReason::bottom};
  if (row.cfa.base == Rule::cfa_base) return StepResult::failed(StopReason::bad_table);
  // If RA has a fixed slot, its column is not a register: in rules it stands for the pc.
  const std::uint16_t pc_register = abi.fixed_ra_offset ? abi.ra : Registers::count;
  RowEvaluator evaluator(frame, memory, pc_register);
  std::uint64_t cfa = 0, ra = 0, fp = 0;
  if (!evaluator.compute(row.cfa, abi.sp, cfa)) return evaluator.failure();
  evaluator.set_cfa(cfa);
  if (!evaluator.compute(row.ra, abi.ra, ra)) return evaluator.failure();

  caller.registers.known = 0;
  caller.registers.set(abi.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  // A lost frame pointer ends the walk only if it is needed.
  if (evaluator.compute(row.fp, abi.fp, fp)) caller.registers.set(abi.fp, fp);
  caller.registers.pc = ra;
  caller.pc_exact = signal_frame;
  return {.status = StepStatus::stepped,
          .signal_frame = signal_frame,
          .has_cfa = true,
          .same_stack = row.ra.kind == Rule::Kind::value && row.ra.base == pc_register,
          .cfa = cfa};
}

} // namespace sframe::unwind

#pragma GCC visibility pop
