// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step by a FrameRow from any source. A row has rules for CFA, RA and FP. All other registers of the
// caller become unknown, even call-saved ones: the function may have changed them, and the row does not show
// where they are saved.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/operation.h"

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// What the operations of a row are computed from.
struct RowFrame {
  /// If RA has a fixed slot, its column is not a register: in rules it stands for the pc.
  RowFrame(const FrameState& state, Memory& words, const AbiTraits& abi)
      : registers(state.registers), memory(words),
        pc_register(abi.fixed_ra_offset ? abi.ra : Registers::count) {}

  bool get(std::uint16_t reg, std::uint64_t& value) const {
    const auto known = reg == pc_register ? std::optional(registers.pc) : registers.get(reg);
    value = known.value_or(0);
    return known.has_value();
  }
  bool load(std::uint64_t address, std::uint64_t& value) { return memory.load(address, value); }
  OperationFault evaluate(const SmallOperation&, std::uint64_t&) const { return {StopReason::bad_table, 0}; }

  const Registers& registers;
  Memory& memory;
  std::uint16_t pc_register; ///< Registers::count: none
  std::optional<std::uint64_t> cfa;
};

/// Steps to the caller. The row must have no `fixed` rule: they are resolved before.
inline StepResult step_by_row(const FrameRow& row, bool signal_frame, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller) {
  if (row.is_outermost()) return {.status = StepStatus::bottom, .reason = StopReason::bottom};
  const SmallOperation cfa_rule = operation_of(row.cfa, abi.sp), ra_rule = operation_of(row.ra, abi.ra);
  if (row.cfa.base == Rule::cfa_base || cfa_rule.kind == OperationKind::undefined)
    return StepResult::failed(StopReason::bad_table);
  RowFrame values(frame, memory, abi);
  std::uint64_t cfa = 0, ra = 0, fp = 0;
  if (const OperationFault fault = compute(cfa_rule, values, cfa); !fault.is_none())
    return StepResult::failed(fault.reason, fault.detail);
  values.cfa = cfa;
  if (ra_rule.kind == OperationKind::undefined) return StepResult::failed(StopReason::bad_table);
  if (const OperationFault fault = compute(ra_rule, values, ra); !fault.is_none())
    return StepResult::failed(fault.reason, fault.detail);

  caller.registers.known = 0;
  caller.registers.set(abi.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  // A lost frame pointer ends the walk only if it is needed.
  if (compute(operation_of(row.fp, abi.fp), values, fp).is_none()) caller.registers.set(abi.fp, fp);
  caller.registers.pc = ra;
  caller.pc_exact = signal_frame;
  return {.status = StepStatus::stepped,
          .signal_frame = signal_frame,
          .has_cfa = true,
          .same_stack = row.ra.kind == Rule::Kind::value && row.ra.base == values.pc_register,
          .cfa = cfa};
}

} // namespace sframe::unwind

#pragma GCC visibility pop
