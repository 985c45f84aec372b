// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stack machine for both kinds of expression. For call frame information all values are addresses; for
// location descriptions each value has a type, and is kept in 64 bits, extended as the type requires. The CFA
// of a PLT in x86-64 programs as an example; rip is the pc, and a stub has 16 bytes:
//
//   77 08   DW_OP_breg7 8     rsp+8
//   80 00   DW_OP_breg16 0    rsp+8  rip
//   3f 1a   lit15, and        rsp+8  rip&15
//   3b 2a   lit11, ge         rsp+8  1 from byte 11 of the stub on, after its push; else 0
//   33 24   lit3, shl         rsp+8  8 or 0
//   22      plus              rsp+16 or rsp+8
//
// The cost is bounded by max_expression_steps and max_expression_stack. The first error ends the machine;
// later operations have no effect.

#include "sframe/cfi/expression.h"

#include "operations.h"

#include <array>
#include <bit>
#include <cmath>

namespace sframe::cfi {
namespace {

class StackMachine {
public:
  StackMachine(std::span<const std::byte> expression, ExpressionContext& context,
               const ExpressionSettings& settings, LocationContext* location = nullptr,
               ValueType* types = nullptr)
      : expression_(expression), context_(context), location_(location), settings_(settings),
        reader_(expression, 0, expression.size(), settings.byte_order),
        bits_(settings.address_size == 4 ? 32 : 64), types_(types) {}

  expected<std::uint64_t, ExpressionError> run() {
    execute();
    const std::uint64_t result = pop();
    if (fault_) return unexpected(*fault_);
    return result;
  }

  expected<void, ExpressionError> run_location() {
    if (expression_.empty()) return {};
    execute();
    // After the last piece, nothing is left.
    if (!fault_ && !stopped_ && !(has_pieces_ && !found_ && depth_ == 0)) end_part(std::nullopt, 0);
    if (fault_) return unexpected(*fault_);
    return {};
  }

  std::uint32_t steps() const { return steps_; }

private:
  void execute() {
    if (settings_.cfa) push(*settings_.cfa);
    for (; !fault_ && !stopped_ && reader_.left();) {
      operation_ = reader_.at();
      if (steps_ == max_expression_steps)
        fail(ExpressionErrorKind::too_many_steps);
      else
        ++steps_, step(reader_.u8());
      if (reader_.failed())
        fail(reader_.kind() == ErrorKind::bad_leb128 ? ExpressionErrorKind::bad_leb128
                                                     : ExpressionErrorKind::truncated);
    }
  }

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
    if (location_) types_[depth_] = {};
    stack_[depth_++] = cut(value);
  }

  void push(std::uint64_t value, ValueType type) {
    push(fitted(value, type));
    if (!fault_) types_[depth_ - 1] = type;
  }

  std::uint64_t pop() {
    if (depth_ == 0) {
      fail(ExpressionErrorKind::stack_underflow);
      return 0;
    }
    return stack_[--depth_];
  }

  /// The value `down` positions below the top.
  std::uint64_t peek(std::uint32_t down) {
    if (down >= depth_) {
      fail(ExpressionErrorKind::stack_underflow);
      return 0;
    }
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
    if (location_ && step_location(operation)) return;
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
    case op_dup: return copy(0);
    case op_over: return copy(1);
    case op_pick: return copy(reader_.u8());
    case op_drop: pop(); return;
    case op_swap: return rotate(2);
    case op_rot: return rotate(3);
    case op_neg:
    case op_not:
    case op_abs: {
      const std::uint64_t value = pop();
      if (fault_) return;
      const ValueType type = location_ ? types_[depth_] : ValueType();
      if (type.kind == ValueType::Kind::floating) return negate(operation, value, type);
      const std::uint64_t result = operation == op_not                           ? ~value
                                   : operation == op_neg || as_signed(value) < 0 ? -value
                                                                                 : value;
      return location_ ? push(result, type) : push(result);
    }
    default: return step_binary(operation);
    }
  }

  void copy(std::uint32_t down) {
    const std::uint64_t value = peek(down);
    if (fault_ || !location_) return push(value);
    push(value, types_[depth_ - 1 - down]);
  }

  /// Moves the top below the `count` - 1 values under it.
  void rotate(std::uint32_t count) {
    peek(count - 1);
    if (fault_) return;
    const std::uint64_t top = stack_[depth_ - 1];
    for (std::uint32_t i = 1; i < count; ++i) stack_[depth_ - i] = stack_[depth_ - 1 - i];
    stack_[depth_ - count] = top;
    if (!location_) return;
    const ValueType type = types_[depth_ - 1];
    for (std::uint32_t i = 1; i < count; ++i) types_[depth_ - i] = types_[depth_ - 1 - i];
    types_[depth_ - count] = type;
  }

  void step_binary(std::uint8_t operation) {
    const bool known = (operation >= op_and && operation <= op_ne && operation != op_neg &&
                        operation != op_not && operation != op_plus_uconst && operation != op_bra);
    if (!known) return fail(ExpressionErrorKind::unknown_opcode);
    const std::uint64_t b = pop(), a = pop();
    if (fault_) return;
    if (!location_) return step_generic(operation, a, b);
    const ValueType type = types_[depth_];
    if (step_typed_binary(operation, a, b, type)) return;
    step_generic(operation, a, b);
    const bool compares = operation >= op_eq && operation <= op_ne;
    if (!fault_ && !compares) retype(type);
  }

  void step_generic(std::uint8_t operation, std::uint64_t a, std::uint64_t b) {
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

  // Location descriptions.

  /// True if the operation is one of them, or has another effect there.
  bool step_location(std::uint8_t operation) {
    if (found_ && operation != op_piece && operation != op_bit_piece && operation != op_nop &&
        operation != op_gnu_uninit) {
      fail(ExpressionErrorKind::bad_piece);
      return true;
    }
    if (operation >= op_reg0 && operation <= op_reg31) {
      found_register(operation - op_reg0);
      return true;
    }
    switch (operation) {
    case op_regx: found_register(reader_.uleb()); return true;
    case op_addr: push(location_->relocated(reader_.number(bits_ / 8))); return true;
    case op_call_frame_cfa: push_known(location_->call_frame_cfa()); return true;
    case op_fbreg: {
      const std::int64_t offset = reader_.sleb();
      if (reader_.failed()) return true;
      push_known(location_->frame_base(), static_cast<std::uint64_t>(offset));
      return true;
    }
    case op_piece: {
      const std::uint64_t bytes = reader_.uleb();
      if (bytes > UINT64_MAX / 8)
        fail(ExpressionErrorKind::bad_size);
      else
        end_part(bytes * 8, 0);
      return true;
    }
    case op_bit_piece: {
      const std::uint64_t bits = reader_.uleb();
      end_part(bits, reader_.uleb());
      return true;
    }
    case op_stack_value:
      found({.kind = LocationPart::Kind::number, .value = pop(), .bytes = {}, .bits = {}});
      return true;
    case op_implicit_value:
      found({.kind = LocationPart::Kind::bytes, .value = 0, .bytes = block(reader_.uleb()), .bits = {}});
      return true;
    case op_implicit_pointer:
    case op_gnu_implicit_pointer:
      reader_.skip(settings_.offset_size);
      reader_.sleb();
      found({.kind = LocationPart::Kind::pointer, .value = 0, .bytes = {}, .bits = {}});
      return true;
    case op_entry_value:
    case op_gnu_entry_value: {
      const auto expression = block(reader_.uleb());
      if (reader_.failed()) return true;
      push_known(location_->entry_value(expression));
      retype_as(expression);
      return true;
    }
    case op_gnu_parameter_ref: {
      const std::uint64_t parameter = reader_.number(4);
      if (!reader_.failed()) push_known(location_->passed_value(parameter));
      return true;
    }
    case op_addrx:
    case op_gnu_addr_index:
    case op_constx:
    case op_gnu_const_index: {
      const std::uint64_t index = reader_.uleb();
      if (reader_.failed()) return true;
      const auto value = location_->indexed(index);
      const bool is_address = operation == op_addrx || operation == op_gnu_addr_index;
      push_known(value && is_address ? location_->relocated(*value) : value);
      return true;
    }
    case op_gnu_uninit: return true;
    default: return step_typed(operation);
    }
  }

  bool step_typed(std::uint8_t operation) {
    switch (operation) {
    case op_const_type:
    case op_gnu_const_type: {
      const auto type = read_type();
      const std::uint8_t size = reader_.u8();
      const auto bytes = block(size);
      if (reader_.failed() || fault_) return true;
      if (!type || size != type->size) {
        fail(ExpressionErrorKind::bad_size);
        return true;
      }
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < size; ++i)
        value = value << 8 | std::uint64_t(bytes[settings_.byte_order == ByteOrder::big ? i : size - 1 - i]);
      push(value, *type);
      return true;
    }
    case op_regval_type:
    case op_gnu_regval_type: {
      const std::uint64_t reg = reader_.uleb();
      const auto type = read_type();
      if (type && !reader_.failed()) push_register(reg, 0), retype(*type);
      return true;
    }
    case op_deref_type:
    case op_gnu_deref_type: {
      const std::uint8_t size = reader_.u8();
      const auto type = read_type();
      if (type && !reader_.failed()) load(size), retype(*type);
      return true;
    }
    case op_convert:
    case op_gnu_convert: {
      const auto type = read_type();
      if (!type) return true;
      const std::uint64_t value = pop();
      if (!fault_) push(converted(value, types_[depth_], *type), *type);
      return true;
    }
    case op_reinterpret:
    case op_gnu_reinterpret: {
      const auto type = read_type();
      if (type) retype(*type);
      return true;
    }
    default: return false;
    }
  }

  void found(const LocationPart& part) {
    if (!fault_ && !reader_.failed()) found_ = part;
  }
  void found_register(std::uint64_t reg) {
    found({.kind = LocationPart::Kind::reg, .value = reg, .bytes = {}, .bits = {}});
  }

  /// Without a description before it, a piece is nowhere.
  void end_part(std::optional<std::uint64_t> bits, std::uint64_t bit_offset) {
    if (fault_ || reader_.failed()) return;
    LocationPart part = found_.value_or(LocationPart());
    if (!found_ && (depth_ || !bits))
      part = {.kind = LocationPart::Kind::memory, .value = pop(), .bytes = {}, .bits = {}};
    part.bits = bits;
    part.bit_offset = bit_offset;
    found_.reset();
    has_pieces_ = true;
    if (!fault_) stopped_ = !location_->part(part);
  }

  void push_known(std::optional<std::uint64_t> value, std::uint64_t offset = 0) {
    if (!value) return fail(ExpressionErrorKind::no_value);
    push(*value + offset);
  }

  std::span<const std::byte> block(std::uint64_t size) {
    const std::uint64_t at = reader_.at();
    reader_.skip(size);
    if (reader_.failed()) return {};
    return expression_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }

  /// The type that an operand refers to; 0 is the generic type. Nothing after an error.
  std::optional<ValueType> read_type() {
    const std::uint64_t offset = reader_.uleb();
    if (reader_.failed()) return std::nullopt;
    if (offset == 0) return ValueType();
    const auto type = location_->base_type(offset);
    if (!type || type->size == 0 || type->size > 8) {
      fail(ExpressionErrorKind::bad_size);
      return std::nullopt;
    }
    return type;
  }

  /// A register's value at the entry may have a type.
  void retype_as(std::span<const std::byte> expression) {
    DwarfReader inner(expression, 0, expression.size(), settings_.byte_order);
    const std::uint8_t operation = inner.u8();
    if (fault_ || (operation != op_regval_type && operation != op_gnu_regval_type)) return;
    inner.uleb();
    const auto type = location_->base_type(inner.uleb());
    if (!type || inner.failed() || type->size == 0 || type->size > 8)
      return fail(ExpressionErrorKind::bad_size);
    retype(*type);
  }

  void retype(ValueType type) {
    const std::uint64_t value = pop();
    if (!fault_) push(value, type);
  }

  /// The value as it is kept: the bits of its type, extended as the type wants.
  static std::uint64_t fitted(std::uint64_t value, ValueType type) {
    if (type.size >= 8) return value;
    const unsigned unused = 64 - 8 * type.size;
    value <<= unused;
    if (type.kind == ValueType::Kind::signed_number)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused);
    return value >> unused;
  }

  static double as_floating(std::uint64_t value, ValueType type) {
    if (type.size == 4) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    return std::bit_cast<double>(value);
  }
  static std::uint64_t from_floating(double value, ValueType type) {
    if (type.size == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<std::uint64_t>(value);
  }

  static std::uint64_t converted(std::uint64_t value, ValueType from, ValueType to) {
    using Kind = ValueType::Kind;
    if (from.kind == Kind::floating && to.kind == Kind::floating)
      return from_floating(as_floating(value, from), to);
    if (to.kind == Kind::floating)
      return from_floating(from.kind == Kind::unsigned_number
                               ? static_cast<double>(value)
                               : static_cast<double>(static_cast<std::int64_t>(value)),
                           to);
    if (from.kind != Kind::floating) return value;
    const double number = as_floating(value, from);
    if (!(number > -0x1p63 && number < 0x1p64)) return 0; // undefined
    return number < 0x1p63 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                           : static_cast<std::uint64_t>(number);
  }

  void negate(std::uint8_t operation, std::uint64_t value, ValueType type) {
    const double number = as_floating(value, type);
    if (operation == op_not) return fail(ExpressionErrorKind::unknown_opcode);
    push(from_floating(operation == op_neg ? -number : std::fabs(number), type), type);
  }

  void step_floating(std::uint8_t operation, double x, double y, ValueType type) {
    switch (operation) {
    case op_plus: return push(from_floating(x + y, type), type);
    case op_minus: return push(from_floating(x - y, type), type);
    case op_mul: return push(from_floating(x * y, type), type);
    case op_div: return push(from_floating(x / y, type), type);
    case op_eq: return push(x == y);
    case op_ne: return push(x != y);
    case op_ge: return push(x >= y);
    case op_gt: return push(x > y);
    case op_le: return push(x <= y);
    case op_lt: return push(x < y);
    default: return fail(ExpressionErrorKind::unknown_opcode);
    }
  }

  /// An operation on two values of the type of the first one. False for the generic type.
  bool step_typed_binary(std::uint8_t operation, std::uint64_t a, std::uint64_t b, ValueType type) {
    using Kind = ValueType::Kind;
    if (type.kind == Kind::generic) return false;
    if (type.kind == Kind::floating) {
      step_floating(operation, as_floating(a, type), as_floating(b, type), type);
      return true;
    }
    if (type.kind == Kind::unsigned_number) {
      switch (operation) {
      case op_div:
        if (b == 0)
          fail(ExpressionErrorKind::division_by_zero);
        else
          push(a / b, type);
        return true;
      case op_shra: push(b < 64 ? a >> b : 0, type); return true;
      case op_ge: push(a >= b); return true;
      case op_gt: push(a > b); return true;
      case op_le: push(a <= b); return true;
      case op_lt: push(a < b); return true;
      default: break;
      }
    }
    if (operation == op_shr) {
      push(b < 64 ? fitted(a, {Kind::unsigned_number, type.size}) >> b : 0, type);
      return true;
    }
    return false;
  }

  void divide(std::uint64_t a, std::int64_t sa, std::int64_t sb) {
    if (sb == 0) return fail(ExpressionErrorKind::division_by_zero);
    // The quotient of the lowest number and -1 is not representable; negation wraps, as all arithmetic here.
    push(sb == -1 ? -a : static_cast<std::uint64_t>(sa / sb));
  }

  std::span<const std::byte> expression_;
  ExpressionContext& context_;
  LocationContext* location_; ///< nullptr: call frame information
  const ExpressionSettings& settings_;
  DwarfReader reader_;
  std::uint32_t bits_;
  std::uint32_t depth_ = 0;
  std::uint32_t steps_ = 0;
  std::uint64_t operation_ = 0; ///< offset of the current one
  std::optional<ExpressionError> fault_;
  std::array<std::uint64_t, max_expression_stack> stack_;
  // Of location descriptions.
  std::optional<LocationPart> found_; ///< described by the last operation; a piece or the end must follow
  bool has_pieces_ = false, stopped_ = false;
  ValueType* types_; ///< of the values on the stack
};

} // namespace

expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings) {
  std::uint64_t steps = 0;
  return evaluate(expression, context, settings, steps);
}

expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings, std::uint64_t& steps) {
  StackMachine machine(expression, context, settings);
  auto result = machine.run();
  steps += machine.steps();
  return result;
}

expected<void, ExpressionError> evaluate_location(std::span<const std::byte> description,
                                                  LocationContext& context,
                                                  const ExpressionSettings& settings, std::uint64_t& steps) {
  std::array<ValueType, max_expression_stack> types;
  StackMachine machine(description, context, settings, &context, types.data());
  auto result = machine.run_location();
  steps += machine.steps();
  return result;
}

} // namespace sframe::cfi
