// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one value of a caller is computed: the form that the rules of SFrame and of CFI have in common, and the
// one place where it is evaluated. PlainRow and lib/here's PlainRule are the same equations for the rows that
// nearly all are.

#pragma once

#include "sframe/cfi/expression.h"
#include "sframe/cfi/rows.h"
#include "sframe/row.h"
#include "sframe/unwind/stop_reason.h"

#include <cstdint>
#include <limits>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// [A] is the word at A, E a DWARF expression.
enum class OperationKind : std::uint8_t {
  undefined,      ///< unknown
  value,          ///< base + offset
  stored,         ///< [base + offset]
  expression,     ///< [E]
  val_expression, ///< E
};

/// `Number` and `Offset` are as wide as needed: lib/here keeps operations in words of 64 bits.
template <class Number, class Offset> struct Operation {
  using Kind = OperationKind;
  /// The base that stands for the CFA.
  static constexpr Number cfa_base = std::numeric_limits<Number>::max();

  Kind kind = Kind::undefined;
  std::uint8_t reg = 0; ///< whose value it is; unused for CFA and RA
  Number base = 0;      ///< DWARF register number or cfa_base. Expressions: size in bytes
  Offset offset = 0;    ///< bytes. Expressions: where it starts

  /// False if the numbers do not fit.
  bool set(Kind new_kind, std::uint8_t own, std::uint64_t new_base, std::int64_t new_offset) {
    *this = {new_kind, own, static_cast<Number>(new_base), static_cast<Offset>(new_offset)};
    return base == new_base && offset == new_offset;
  }
  /// That of a rule of CFI for the CFA. False if it does not fit.
  bool set(const cfi::CfaRule& rule) {
    switch (rule.kind) {
    case cfi::CfaRule::Kind::register_offset:
      return set(Kind::value, 0, rule.number, rule.offset) && base != cfa_base;
    case cfi::CfaRule::Kind::expression: return set(Kind::val_expression, 0, rule.number, rule.offset);
    case cfi::CfaRule::Kind::unspecified: break;
    }
    return set(Kind::undefined, 0, 0, 0);
  }
  /// That of a rule of CFI for register `own`. False if it does not fit.
  bool set(const cfi::RegisterRule& rule, std::uint8_t own) {
    using Rule = cfi::RegisterRule::Kind;
    switch (rule.kind) {
    case Rule::undefined: break;
    case Rule::unspecified:
    case Rule::same: return set(Kind::value, own, own, 0);
    case Rule::offset: return set(Kind::stored, own, cfa_base, rule.offset);
    case Rule::val_offset: return set(Kind::value, own, cfa_base, rule.offset);
    case Rule::reg: return set(Kind::value, own, rule.number, 0) && base != cfa_base;
    case Rule::expression: return set(Kind::expression, own, rule.number, rule.offset);
    case Rule::val_expression: return set(Kind::val_expression, own, rule.number, rule.offset);
    }
    return set(Kind::undefined, own, 0, 0);
  }

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// For all rules of SFrame.
using SmallOperation = Operation<std::uint16_t, std::int32_t>;
static_assert(SmallOperation::cfa_base == Rule::cfa_base);

/// That of a rule of SFrame for register `own`; undefined if the rule is `fixed`.
inline SmallOperation operation_of(const Rule& rule, std::uint16_t own) {
  const auto reg = static_cast<std::uint8_t>(own);
  switch (rule.kind) {
  case Rule::Kind::same: return {OperationKind::value, reg, own, 0};
  case Rule::Kind::value: return {OperationKind::value, reg, rule.base, rule.offset};
  case Rule::Kind::stored: return {OperationKind::stored, reg, rule.base, rule.offset};
  case Rule::Kind::undefined:
  case Rule::Kind::fixed: break;
  }
  return {OperationKind::undefined, reg, 0, 0};
}

/// Why a value cannot be computed.
struct OperationFault {
  StopReason reason = StopReason::none;
  std::uint64_t detail = 0; ///< as StepResult::detail

  bool is_none() const { return reason == StopReason::none; }
};

inline OperationFault fault_of(const cfi::ExpressionError& error) {
  using enum cfi::ExpressionErrorKind;
  const StopReason reason = error.kind == no_register ? StopReason::unknown_register
                            : error.kind == no_memory ? StopReason::unreadable_memory
                                                      : StopReason::bad_table;
  return {reason, error.address};
}

/// Stores the value of an operation. `frame` has the frame's registers and memory: get(register, value) and
/// load(address, value), false if they do not have it; evaluate(operation, value); and the CFA, once it is
/// computed.
template <class Operation, class Frame>
OperationFault compute(const Operation& op, Frame& frame, std::uint64_t& value) {
  using Kind = OperationKind;
  if (op.kind == Kind::undefined) return {StopReason::unknown_register, op.reg};
  if (op.kind == Kind::expression || op.kind == Kind::val_expression) {
    if (const OperationFault fault = frame.evaluate(op, value); !fault.is_none()) return fault;
  } else {
    if (op.base == Operation::cfa_base)
      value = frame.cfa.value_or(0);
    else if (!frame.get(op.base, value))
      return {StopReason::unknown_register, op.base};
    value += static_cast<std::uint64_t>(std::int64_t{op.offset});
  }
  if (op.kind == Kind::value || op.kind == Kind::val_expression) return {};
  const std::uint64_t address = value;
  if (!frame.load(address, value)) return {StopReason::unreadable_memory, address};
  return {};
}

} // namespace sframe::unwind

#pragma GCC visibility pop
