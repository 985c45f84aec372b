// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compile() copies the rules that are there, and the bytes of their expressions, so that the CFI may go away.
// apply() evaluates them for a frame:
//
//   offset N           [CFA + N]            val_offset N       CFA + N
//   reg R              the value of R       expression E       [E]       val_expression E     E
//   same, unspecified  its own value        undefined          unknown
//
// locate() does the same for the places where values are saved. A row whose expressions do not fit
// max_expressions is not usable as a whole. Operations of expressions are charged to the budget.

#include "sframe/unwind/compiled_row.h"

#include "column.h"

#include "sframe/base/budget.h"
#include "sframe/cfi/expression.h"
#include "sframe/cfi/vector_granule.h"

#include <bit>

namespace sframe::unwind {

using cfi::CfaRule;
using cfi::RegisterRule;

/// The frame's registers and memory, for expressions.
class CompiledRow::Context final : public cfi::ExpressionContext {
public:
  Context(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind)
      : frame_(frame), memory_(memory), pc_register_(unwind.ra_is_register ? Registers::count : abi.ra),
        vector_granule_(cfi::vector_granule(abi)), order_(abi.byte_order) {}

  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    const Registers& registers = frame_.registers;
    if (reg == pc_register_) return registers.pc;
    if (reg == vector_granule_) return registers.get(Registers::vector_granule);
    return registers.get(reg);
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return memory_.number(address, size);
  }
  ByteOrder order() const { return order_; }
  /// False if the budget does not suffice for so many operations.
  bool take(std::uint64_t operations) {
    Budget* const budget = memory_.space().budget();
    return !budget || budget->take(Resource::cfi_instructions, operations);
  }

private:
  const FrameState& frame_;
  Memory& memory_;
  std::uint32_t pc_register_;
  std::optional<std::uint16_t> vector_granule_;
  ByteOrder order_;
};

/// Copies a rule, and its expression, if any, to expressions_.
template <class Rule> Rule CompiledRow::keep_expression(const cfi::FullRow& row, Rule rule) {
  bool is_expression = rule.kind == Rule::Kind::expression;
  if constexpr (requires { Rule::Kind::val_expression; })
    is_expression |= rule.kind == Rule::Kind::val_expression;
  if (!is_expression) return rule;
  const std::span<const std::byte> bytes = row.expression(rule);
  if (bytes.size() > max_expressions - expressions_.size()) {
    usable_ = false;
    return rule;
  }
  rule.offset = static_cast<std::int64_t>(expressions_.size());
  expressions_.insert(expressions_.end(), bytes.begin(), bytes.end());
  return rule;
}

void CompiledRow::compile(const CfiMatch& answer, const AbiTraits& abi) {
  const cfi::FullRow& row = answer.row;
  expressions_.clear();
  usable_ = true;
  cfa_ = keep_expression(row, row.cfa);
  address_size_ = answer.address_size;
  signal_frame_ = answer.signal_frame;
  // Return address columns above the tracked registers do occur (pseudo-columns); only their rule is used.
  return_register_ =
      static_cast<std::uint8_t>(row.return_register < Registers::count ? row.return_register : 0xff);
  const RegisterRule ra = keep_expression(row, row.ra());
  return_address_ = {return_register_, ra.kind, ra.number, ra.offset};
  if (row.return_register >= Registers::count && ra.kind == Kind::unspecified) usable_ = false;
  count_ = 0;
  for (std::uint32_t reg = 0; reg < Registers::count; ++reg) {
    const std::uint32_t column = column_of(reg, abi);
    if (row.rule(column).kind == Kind::unspecified || column == row.return_register) continue;
    const RegisterRule rule = keep_expression(row, row.rule(column));
    operations_[count_++] = {static_cast<std::uint8_t>(reg), rule.kind, rule.number, rule.offset};
  }
}

bool CompiledRow::evaluate(std::uint32_t size, std::int64_t offset, Context& context,
                           std::optional<std::uint64_t> cfa, std::uint64_t& value,
                           StepResult& failure) const {
  std::uint64_t operations = 0;
  const auto result =
      cfi::evaluate(std::span(expressions_).subspan(static_cast<std::size_t>(offset), size), context,
                    {.byte_order = context.order(), .address_size = address_size_, .cfa = cfa}, operations);
  if (!context.take(operations)) {
    failure = StepResult::failed(StopReason::budget);
    return false;
  }
  if (result) {
    value = *result;
    return true;
  }
  using enum cfi::ExpressionErrorKind;
  const StopReason reason = result.error().kind == no_register ? StopReason::unknown_register
                            : result.error().kind == no_memory ? StopReason::unreadable_memory
                                                               : StopReason::bad_table;
  failure = StepResult::failed(reason, result.error().address);
  return false;
}

bool CompiledRow::compute_cfa(const FrameState& frame, Context& context, std::uint64_t& value,
                              StepResult& failure) const {
  if (cfa_.kind == CfaRule::Kind::expression)
    return evaluate(cfa_.number, cfa_.offset, context, std::nullopt, value, failure);
  if (cfa_.kind == CfaRule::Kind::unspecified) {
    failure = StepResult::failed(StopReason::bad_table);
    return false;
  }
  if (!frame.registers.has(cfa_.number)) {
    failure = StepResult::failed(StopReason::unknown_register, cfa_.number);
    return false;
  }
  value = frame.registers.values[cfa_.number] + static_cast<std::uint64_t>(cfa_.offset);
  return true;
}

/// Nearly all rules are "saved at CFA + offset".
inline bool CompiledRow::compute(const Operation& op, const FrameState& frame, Memory& memory,
                                 Context& context, std::uint64_t cfa, std::uint64_t& value,
                                 StepResult& failure) const {
  if (op.kind == Kind::offset) {
    const std::uint64_t address = cfa + static_cast<std::uint64_t>(op.offset);
    if (memory.load(address, value)) return true;
    failure = StepResult::failed(StopReason::unreadable_memory, address);
    return false;
  }
  if (op.kind != Kind::unspecified && op.kind != Kind::same)
    return compute_rare(op, memory, context, cfa, value, failure);
  if (frame.registers.has(op.reg)) {
    value = frame.registers.values[op.reg];
    return true;
  }
  failure = StepResult::failed(StopReason::unknown_register, op.reg);
  return false;
}

bool CompiledRow::compute_rare(const Operation& op, Memory& memory, Context& context, std::uint64_t cfa,
                               std::uint64_t& value, StepResult& failure) const {
  switch (op.kind) {
  case Kind::val_offset: value = cfa + static_cast<std::uint64_t>(op.offset); return true;
  case Kind::reg: {
    const auto known = context.read_register(op.number);
    if (!known) failure = StepResult::failed(StopReason::unknown_register, op.number);
    value = known.value_or(0);
    return known.has_value();
  }
  case Kind::expression: {
    std::uint64_t address = 0;
    if (!evaluate(op.number, op.offset, context, cfa, address, failure)) return false;
    if (memory.load(address, value)) return true;
    failure = StepResult::failed(StopReason::unreadable_memory, address);
    return false;
  }
  case Kind::val_expression: return evaluate(op.number, op.offset, context, cfa, value, failure);
  default: return false; // undefined
  }
}

StepResult CompiledRow::apply(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                              const UnwindAbi& unwind, FrameState& caller) const {
  Context context(frame, memory, abi, unwind);
  StepResult failure;
  std::uint64_t cfa = 0, ra = 0;
  // If an expression is missing, no rule of the row can be used.
  if (!usable_) return StepResult::failed(StopReason::bad_table);
  const bool has_cfa = compute_cfa(frame, context, cfa, failure);
  if (return_address_.kind == Kind::undefined)
    return {.status = StepStatus::bottom, .has_cfa = has_cfa, .cfa = cfa, .reason = StopReason::bottom};
  if (!has_cfa) return failure;
  if (!compute(return_address_, frame, memory, context, cfa, ra, failure)) return failure;

  // Call-saved registers without a rule in the row keep their values.
  caller.registers.known = frame.registers.known & unwind.call_saved;
  for (std::uint64_t left = caller.registers.known; left; left &= left - 1) {
    const int reg = std::countr_zero(left);
    caller.registers.values[reg] = frame.registers.values[reg];
  }
  caller.registers.set(abi.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  for (const Operation& op : std::span(operations_).first(count_)) {
    StepResult ignored; // a register that cannot be recovered ends the walk only if it is needed
    std::uint64_t value = 0;
    if (compute(op, frame, memory, context, cfa, value, ignored))
      caller.registers.set(op.reg, value);
    else if (op.kind != Kind::undefined || op.reg != abi.sp) // SP remains the CFA, as in libgcc
      caller.registers.forget(op.reg);
  }
  caller.registers.pc = ra;
  caller.pc_exact = signal_frame_;
  // A return address that is not in memory may be computed from the pc.
  const bool counted = return_address_.kind == Kind::val_expression && !unwind.ra_is_register;
  return {.status = StepStatus::stepped,
          .signal_frame = signal_frame_,
          .has_cfa = true,
          .same_stack = counted,
          .cfa = cfa};
}

SaveLocation CompiledRow::location(const Operation& op, Context& context, std::uint64_t cfa,
                                   const SaveLocations& own) const {
  StepResult ignored;
  std::uint64_t address = cfa + static_cast<std::uint64_t>(op.offset);
  switch (op.kind) {
  case Kind::unspecified:
  case Kind::same: return op.reg < Registers::count ? own.get(op.reg) : SaveLocation{};
  case Kind::reg: return op.number < Registers::count ? own.get(op.number) : SaveLocation{};
  case Kind::expression:
    if (!evaluate(op.number, op.offset, context, cfa, address, ignored)) return {};
    [[fallthrough]];
  case Kind::offset: return {SaveLocation::Kind::memory, address};
  default: return {};
  }
}

void CompiledRow::locate(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                         const UnwindAbi& unwind, std::uint64_t cfa, const SaveLocations& own,
                         SaveLocations& caller) const {
  Context context(frame, memory, abi, unwind);
  caller = own;
  caller.in_memory &= unwind.call_saved;
  caller.in_register &= unwind.call_saved;
  for (const Operation& op : std::span(operations_).first(count_))
    caller.set(op.reg, location(op, context, cfa, own));
  caller.set(SaveLocations::pc, location(return_address_, context, cfa, own));
}

} // namespace sframe::unwind
