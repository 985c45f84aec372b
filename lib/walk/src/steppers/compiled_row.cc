// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "steppers/compiled_row.h"

#include "sframe/cfi/expression.h"

namespace sframe::walk {

using cfi::CfaRule;
using cfi::RegisterRule;

/// What expressions see: the frame's registers and memory.
class CompiledRow::Context final : public cfi::ExpressionContext {
public:
  Context(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind)
      : frame_(frame), memory_(memory), pc_register_(unwind.ra_is_register ? Registers::count : abi.ra),
        order_(abi.byte_order) {}

  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    return reg == pc_register_ ? frame_.registers.pc : frame_.registers.get(reg);
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return memory_.number(address, size);
  }
  ByteOrder order() const { return order_; }

private:
  const FrameState& frame_;
  Memory& memory_;
  std::uint32_t pc_register_;
  ByteOrder order_;
};

void CompiledRow::compile(const CfiAnswer& answer, const AbiTraits&) {
  const cfi::FullRow& row = answer.row;
  section_ = row.section;
  cfa_ = row.cfa;
  address_size_ = answer.address_size;
  signal_frame_ = answer.signal_frame;
  // Columns above the registers that a walk follows do occur (pseudo-columns); only the rule matters then.
  return_register_ =
      static_cast<std::uint8_t>(row.return_register < Registers::count ? row.return_register : 0xff);
  const RegisterRule ra = row.ra();
  return_address_ = {return_register_, ra.kind, ra.number, ra.offset};
  usable_ = row.return_register < Registers::count || ra.kind != Kind::unspecified;
  count_ = 0;
  for (std::uint32_t reg = 0; reg < Registers::count; ++reg) {
    const RegisterRule rule = row.rule(reg);
    if (rule.kind == Kind::unspecified || reg == row.return_register) continue;
    operations_[count_++] = {static_cast<std::uint8_t>(reg), rule.kind, rule.number, rule.offset};
  }
}

std::optional<std::uint64_t> CompiledRow::evaluate(std::uint32_t size, std::int64_t offset, Context& context,
                                                   std::optional<std::uint64_t> cfa,
                                                   StepResult& failure) const {
  const auto result =
      cfi::evaluate(section_.subspan(static_cast<std::size_t>(offset), size), context,
                    {.byte_order = context.order(), .address_size = address_size_, .cfa = cfa});
  if (result) return *result;
  using enum cfi::ExpressionErrorKind;
  const StopReason reason = result.error().kind == no_register ? StopReason::unknown_register
                            : result.error().kind == no_memory ? StopReason::unreadable_memory
                                                               : StopReason::bad_table;
  failure = StepResult::failed(reason, result.error().address);
  return std::nullopt;
}

std::optional<std::uint64_t> CompiledRow::compute_cfa(const FrameState& frame, Context& context,
                                                      StepResult& failure) const {
  if (cfa_.kind == CfaRule::Kind::expression)
    return evaluate(cfa_.number, cfa_.offset, context, std::nullopt, failure);
  if (cfa_.kind == CfaRule::Kind::unspecified) {
    failure = StepResult::failed(StopReason::bad_table);
    return std::nullopt;
  }
  const auto base = frame.registers.get(cfa_.number);
  if (base) return *base + static_cast<std::uint64_t>(cfa_.offset);
  failure = StepResult::failed(StopReason::unknown_register, cfa_.number);
  return std::nullopt;
}

std::optional<std::uint64_t> CompiledRow::value(const Operation& op, const FrameState& frame, Memory& memory,
                                                Context& context, std::uint64_t cfa,
                                                StepResult& failure) const {
  const auto stored = [&](std::uint64_t address) {
    const auto word = memory.word(address);
    if (!word) failure = StepResult::failed(StopReason::unreadable_memory, address);
    return word;
  };
  const auto in_register = [&](std::uint32_t reg) {
    const auto known = context.read_register(reg);
    if (!known) failure = StepResult::failed(StopReason::unknown_register, reg);
    return known;
  };
  switch (op.kind) {
  case Kind::unspecified:
  case Kind::same: {
    const auto own = frame.registers.get(op.reg);
    if (!own) failure = StepResult::failed(StopReason::unknown_register, op.reg);
    return own;
  }
  case Kind::offset: return stored(cfa + static_cast<std::uint64_t>(op.offset));
  case Kind::val_offset: return cfa + static_cast<std::uint64_t>(op.offset);
  case Kind::reg: return in_register(op.number);
  case Kind::expression: {
    const auto address = evaluate(op.number, op.offset, context, cfa, failure);
    return address ? stored(*address) : std::nullopt;
  }
  case Kind::val_expression: return evaluate(op.number, op.offset, context, cfa, failure);
  case Kind::undefined: break;
  }
  return std::nullopt;
}

StepResult CompiledRow::apply(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                              const UnwindAbi& unwind, FrameState& caller) const {
  Context context(frame, memory, abi, unwind);
  StepResult failure;
  const auto cfa = compute_cfa(frame, context, failure);
  if (return_address_.kind == Kind::undefined)
    return {.status = StepStatus::bottom,
            .has_cfa = cfa.has_value(),
            .cfa = cfa.value_or(0),
            .reason = StopReason::bottom};
  if (!cfa) return failure;
  if (!usable_) return StepResult::failed(StopReason::bad_table);
  const auto ra = value(return_address_, frame, memory, context, *cfa, failure);
  if (!ra) return failure;

  // What a call keeps is still there where the row says nothing.
  caller.registers.known = frame.registers.known & unwind.call_saved;
  caller.registers.values = frame.registers.values;
  caller.registers.set(abi.sp, *cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  for (const Operation& op : std::span(operations_).first(count_)) {
    StepResult ignored; // a register that cannot be recovered ends the walk only if it is needed
    if (const auto found = value(op, frame, memory, context, *cfa, ignored))
      caller.registers.set(op.reg, *found);
    else
      caller.registers.forget(op.reg);
  }
  caller.registers.pc = *ra;
  caller.pc_exact = signal_frame_;
  return {.status = StepStatus::stepped, .signal_frame = signal_frame_, .has_cfa = true, .cfa = *cfa};
}

} // namespace sframe::walk
