// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compile() makes operations of the rules that are there (operation.h), and copies the bytes of their
// expressions, so that the CFI may go away. apply() computes them for a frame; locate() says where the values
// are saved. A row whose expressions do not fit max_expressions is not usable as a whole. Operations of
// expressions are charged to the budget.

#include "sframe/unwind/compiled_row.h"

#include "column.h"

#include "sframe/base/budget.h"
#include "sframe/cfi/expression.h"
#include "sframe/cfi/vector_granule.h"

#include <bit>

namespace sframe::unwind {

/// The base that stands for the pc: in rules, the column of RA where it is no register.
constexpr std::uint32_t pc_base = Operation<std::uint32_t, std::int64_t>::cfa_base - 1;

/// What the operations of a row are computed from, their expressions included.
class CompiledRow::Values final : public cfi::ExpressionContext {
public:
  Values(const CompiledRow& row, const FrameState& frame, Memory& memory, const AbiTraits& abi,
         const UnwindAbi& unwind)
      : row_(row), registers_(frame.registers), memory_(memory),
        pc_register_(unwind.ra_is_register ? Registers::count : abi.ra),
        vector_granule_(cfi::vector_granule(abi)), order_(abi.byte_order) {}

  std::optional<std::uint64_t> cfa;

  bool get(std::uint32_t reg, std::uint64_t& value) {
    const auto known = reg == pc_base ? registers_.pc : tracked(reg);
    value = known.value_or(0);
    return known.has_value();
  }
  bool load(std::uint64_t address, std::uint64_t& value) { return memory_.load(address, value); }
  OperationFault evaluate(const Operation& op, std::uint64_t& value) {
    const auto expression =
        std::span(row_.expressions_).subspan(static_cast<std::size_t>(op.offset), op.base);
    std::uint64_t operations = 0;
    const auto result =
        cfi::evaluate(expression, *this,
                      {.byte_order = order_, .address_size = row_.address_size_, .cfa = cfa}, operations);
    Budget* const budget = memory_.space().budget();
    if (budget && !budget->take(Resource::cfi_instructions, operations)) return {StopReason::budget, 0};
    value = result.value_or(0);
    return result ? OperationFault() : fault_of(result.error());
  }

  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    return reg == pc_register_ ? registers_.pc : tracked(reg);
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return memory_.number(address, size);
  }

private:
  std::optional<std::uint64_t> tracked(std::uint32_t reg) const {
    return registers_.get(reg == vector_granule_ ? Registers::vector_granule : reg);
  }

  const CompiledRow& row_;
  const Registers& registers_;
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
  using Rule = cfi::RegisterRule::Kind;
  const cfi::FullRow& row = answer.row;
  const bool ra_is_register = find_unwind_abi(abi.id)->ra_is_register;
  const auto set = [&](Operation& op, std::uint8_t reg, cfi::RegisterRule rule) {
    if (rule.kind == Rule::reg && rule.number == abi.ra && !ra_is_register) rule.number = pc_base;
    if (!op.set(keep_expression(row, rule), reg)) usable_ = false;
  };
  expressions_.clear();
  usable_ = true;
  if (!cfa_.set(keep_expression(row, row.cfa))) usable_ = false;
  has_cfa_ = row.cfa.kind != cfi::CfaRule::Kind::unspecified;
  address_size_ = answer.address_size;
  signal_frame_ = answer.signal_frame;
  interrupts_caller_ = answer.interrupts_caller;
  is_outermost_ = row.ra().kind == Rule::undefined;
  // Return address columns above the tracked registers do occur (pseudo-columns); only their rule is used.
  const bool is_tracked = row.return_register < Registers::count;
  set(return_address_, static_cast<std::uint8_t>(is_tracked ? row.return_register : 0xff), row.ra());
  if (!is_tracked && row.ra().kind == Rule::unspecified) usable_ = false;
  count_ = 0;
  for (std::uint32_t reg = 0; reg < Registers::count; ++reg) {
    const std::uint32_t column = column_of(reg, abi);
    if (row.rule(column).kind == Rule::unspecified || column == row.return_register) continue;
    set(operations_[count_++], static_cast<std::uint8_t>(reg), row.rule(column));
  }
}

StepResult CompiledRow::apply(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                              const UnwindAbi& unwind, FrameState& caller) const {
  // If an expression is missing, no rule of the row can be used.
  if (!usable_) return StepResult::failed(StopReason::bad_table);
  Values values(*this, frame, memory, abi, unwind);
  std::uint64_t cfa = 0, ra = 0;
  OperationFault fault = has_cfa_ ? compute(cfa_, values, cfa) : OperationFault{StopReason::bad_table, 0};
  if (is_outermost_)
    return {
        .status = StepStatus::bottom, .has_cfa = fault.is_none(), .cfa = cfa, .reason = StopReason::bottom};
  if (fault.is_none()) {
    values.cfa = cfa;
    fault = compute(return_address_, values, ra);
  }
  if (!fault.is_none()) return StepResult::failed(fault.reason, fault.detail);

  // Call-saved registers without a rule in the row keep their values.
  caller.registers.known = frame.registers.known & unwind.call_saved;
  for (std::uint64_t left = caller.registers.known; left; left &= left - 1) {
    const int reg = std::countr_zero(left);
    caller.registers.values[reg] = frame.registers.values[reg];
  }
  caller.registers.set(abi.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  for (const Operation& op : std::span(operations_).first(count_)) {
    std::uint64_t value = 0; // a register that cannot be recovered ends the walk only if it is needed
    if (compute(op, values, value).is_none())
      caller.registers.set(op.reg, value);
    else if (op.kind != Kind::undefined || op.reg != abi.sp) // SP remains the CFA, as in libgcc
      caller.registers.forget(op.reg);
  }
  caller.registers.pc = ra;
  caller.pc_exact = signal_frame_ || interrupts_caller_;
  // A return address that is not in memory may be computed from the pc.
  const bool counted = return_address_.kind == Kind::val_expression && !unwind.ra_is_register;
  return {.status = StepStatus::stepped,
          .signal_frame = signal_frame_,
          .has_cfa = true,
          .same_stack = counted,
          .cfa = cfa};
}

SaveLocation CompiledRow::location(const Operation& op, Values& values, const SaveLocations& own) const {
  if (op.kind == Kind::value) return op.base < Registers::count ? own.get(op.base) : SaveLocation{};
  Operation address = op; // of the word
  address.kind = op.kind == Kind::stored       ? Kind::value
                 : op.kind == Kind::expression ? Kind::val_expression
                                               : Kind::undefined;
  std::uint64_t at = 0;
  return compute(address, values, at).is_none() ? SaveLocation{SaveLocation::Kind::memory, at}
                                                : SaveLocation{};
}

void CompiledRow::locate(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                         const UnwindAbi& unwind, std::uint64_t cfa, const SaveLocations& own,
                         SaveLocations& caller) const {
  Values values(*this, frame, memory, abi, unwind);
  values.cfa = cfa;
  caller = own;
  caller.in_memory &= unwind.call_saved;
  caller.in_register &= unwind.call_saved;
  for (const Operation& op : std::span(operations_).first(count_))
    caller.set(op.reg, location(op, values, own));
  caller.set(SaveLocations::pc, location(return_address_, values, own));
}

} // namespace sframe::unwind
