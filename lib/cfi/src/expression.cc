// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/cfi/expression.h"

#include "operations.h"

#include <array>

namespace sframe::cfi {
namespace {

class StackMachine {
public:
  StackMachine(std::span<const std::byte> expression, ExpressionContext& context,
               const ExpressionSettings& settings)
      : expression_(expression), context_(context), settings_(settings),
        reader_(expression, 0, expression.size(), settings.byte_order),
        bits_(settings.address_size == 4 ? 32 : 64) {}

  expected<std::uint64_t, ExpressionError> run() {
    if (settings_.cfa) push(*settings_.cfa);
    for (std::uint32_t steps = 0; !fault_ && reader_.left(); ++steps) {
      operation_ = reader_.at();
      if (steps == max_expression_steps)
        fail(ExpressionErrorKind::too_many_steps);
      else
        step(reader_.u8());
      if (reader_.failed())
        fail(reader_.kind() == ErrorKind::bad_leb128 ? ExpressionErrorKind::bad_leb128
                                                     : ExpressionErrorKind::truncated);
    }
    const std::uint64_t result = pop();
    if (fault_) return unexpected(*fault_);
    return result;
  }

private:
  void fail(ExpressionErrorKind kind, std::uint64_t address = 0) {
    if (!fault_) fault_ = ExpressionError{kind, static_cast<std::uint32_t>(operation_), address};
  }

  std::uint64_t cut(std::uint64_t value) const {
    return bits_ == 32 ? static_cast<std::uint32_t>(value) : value;
  }

  std::int64_t as_signed(std::uint64_t value) const {
    return bits_ == 32 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }

  void push(std::uint64_t value) {
    if (depth_ == stack_.size()) return fail(ExpressionErrorKind::stack_overflow);
    stack_[depth_++] = cut(value);
  }

  std::uint64_t pop() {
    if (depth_ == 0) return fail(ExpressionErrorKind::stack_underflow), 0;
    return stack_[--depth_];
  }

  /// The value `down` positions below the top.
  std::uint64_t peek(std::uint32_t down) {
    if (down >= depth_) return fail(ExpressionErrorKind::stack_underflow), 0;
    return stack_[depth_ - 1 - down];
  }

  void push_register(std::uint64_t reg, std::int64_t offset) {
    const auto value =
        reg <= UINT32_MAX ? context_.read_register(static_cast<std::uint32_t>(reg)) : std::nullopt;
    if (!value) return fail(ExpressionErrorKind::no_register, reg);
    push(*value + static_cast<std::uint64_t>(offset));
  }

  void load(std::uint32_t size) {
    if (size == 0 || size * 8 > bits_) return fail(ExpressionErrorKind::bad_size);
    const std::uint64_t address = pop();
    if (fault_) return;
    const auto value = context_.read_memory(address, size);
    if (!value) return fail(ExpressionErrorKind::no_memory, address);
    push(*value);
  }

  void jump(std::int16_t distance) {
    const std::int64_t target = static_cast<std::int64_t>(reader_.at()) + distance;
    if (target < 0 || target > static_cast<std::int64_t>(expression_.size()))
      return fail(ExpressionErrorKind::truncated);
    reader_ = DwarfReader(expression_, static_cast<std::uint64_t>(target), expression_.size(),
                          settings_.byte_order);
  }

  void branch(bool conditional) {
    const auto distance = static_cast<std::int16_t>(reader_.fixed<std::uint16_t>());
    if (reader_.failed()) return;
    if (!conditional || pop() != 0) jump(distance);
  }

  /// Operations with an operand, or on registers and memory.
  void step(std::uint8_t operation) {
    if (const auto value = read_constant(reader_, operation)) return push(*value);
    if (const auto based = read_breg(reader_, operation)) {
      if (!reader_.failed()) push_register(based->reg, based->offset);
      return;
    }
    if (operation >= op_reg0 && operation <= op_reg31) return push_register(operation - op_reg0, 0);
    switch (operation) {
    case op_addr: return push(reader_.number(bits_ / 8));
    case op_regx: {
      const std::uint64_t reg = reader_.uleb();
      if (!reader_.failed()) push_register(reg, 0);
      return;
    }
    case op_deref: return load(bits_ / 8);
    case op_deref_size: {
      const std::uint8_t size = reader_.u8();
      if (!reader_.failed()) load(size);
      return;
    }
    case op_plus_uconst: return push(pop() + reader_.uleb());
    case op_skip: return branch(false);
    case op_bra: return branch(true);
    case op_call_frame_cfa:
      if (settings_.cfa) return push(*settings_.cfa);
      return fail(ExpressionErrorKind::unknown_opcode);
    case op_nop: return;
    default: return step_on_stack(operation);
    }
  }

  void step_on_stack(std::uint8_t operation) {
    switch (operation) {
    case op_dup: return push(peek(0));
    case op_over: return push(peek(1));
    case op_pick: return push(peek(reader_.u8()));
    case op_drop: pop(); return;
    case op_swap: return rotate(2);
    case op_rot: return rotate(3);
    case op_neg: return push(-pop());
    case op_not: return push(~pop());
    case op_abs: {
      const std::uint64_t value = pop();
      return push(as_signed(value) < 0 ? -value : value);
    }
    default: return step_binary(operation);
    }
  }

  /// Moves the top below the `count` - 1 values under it.
  void rotate(std::uint32_t count) {
    peek(count - 1);
    if (fault_) return;
    const std::uint64_t top = stack_[depth_ - 1];
    for (std::uint32_t i = 1; i < count; ++i) stack_[depth_ - i] = stack_[depth_ - 1 - i];
    stack_[depth_ - count] = top;
  }

  void step_binary(std::uint8_t operation) {
    const bool known = (operation >= op_and && operation <= op_ne && operation != op_neg &&
                        operation != op_not && operation != op_plus_uconst && operation != op_bra);
    if (!known) return fail(ExpressionErrorKind::unknown_opcode);
    const std::uint64_t b = pop(), a = pop();
    if (fault_) return;
    const std::int64_t sa = as_signed(a), sb = as_signed(b);
    switch (operation) {
    case op_and: return push(a & b);
    case op_or: return push(a | b);
    case op_xor: return push(a ^ b);
    case op_plus: return push(a + b);
    case op_minus: return push(a - b);
    case op_mul: return push(a * b);
    case op_div: return divide(a, sa, sb);
    case op_mod: return b ? push(a % b) : fail(ExpressionErrorKind::division_by_zero);
    case op_shl: return push(b < bits_ ? a << b : 0);
    case op_shr: return push(b < bits_ ? a >> b : 0);
    case op_shra: return push(static_cast<std::uint64_t>(sa >> (b < bits_ ? b : bits_ - 1)));
    case op_eq: return push(a == b);
    case op_ne: return push(a != b);
    case op_ge: return push(sa >= sb);
    case op_gt: return push(sa > sb);
    case op_le: return push(sa <= sb);
    default: return push(sa < sb);
    }
  }

  void divide(std::uint64_t a, std::int64_t sa, std::int64_t sb) {
    if (sb == 0) return fail(ExpressionErrorKind::division_by_zero);
    // The quotient of the lowest number and -1 is not representable; negation wraps, as all arithmetic here.
    push(sb == -1 ? -a : static_cast<std::uint64_t>(sa / sb));
  }

  std::span<const std::byte> expression_;
  ExpressionContext& context_;
  const ExpressionSettings& settings_;
  DwarfReader reader_;
  std::uint32_t bits_;
  std::uint32_t depth_ = 0;
  std::uint64_t operation_ = 0; ///< offset of the current one
  std::optional<ExpressionError> fault_;
  std::array<std::uint64_t, max_expression_stack> stack_;
};

} // namespace

expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings) {
  return StackMachine(expression, context, settings).run();
}

} // namespace sframe::cfi
