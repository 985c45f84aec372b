// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates DWARF expressions of call frame information (DWARF 5, sections 2.5.1 and 6.4.2): a stack machine
// over registers and memory that the caller provides. Steps and stack are bounded, so that a hostile
// expression cannot hang or exhaust an unwinder; nothing is allocated.

#pragma once

#include "sframe/abi.h"
#include "sframe/expected.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::cfi {

enum class ExpressionErrorKind : std::uint8_t {
  truncated,       ///< an operation runs past the expression, or a branch leaves it
  unknown_opcode,  ///< an operation that call frame information does not use
  bad_leb128,      ///< a LEB128 number that does not fit 64 bits
  stack_underflow, ///< an operation finds too few values; or the result is missing
  stack_overflow,  ///< more than max_expression_stack values
  too_many_steps,  ///< more than max_expression_steps operations
  division_by_zero,
  bad_size,    ///< DW_OP_deref_size of 0 or larger than an address
  no_register, ///< the caller does not have the register
  no_memory,   ///< the caller cannot read the memory
};

/// An error, and the offset in the expression of the operation at fault.
struct ExpressionError {
  ExpressionErrorKind kind{};
  std::uint32_t offset = 0;
  std::uint64_t address = 0; ///< no_memory: the unreadable address. no_register: the register's number

  friend bool operator==(const ExpressionError&, const ExpressionError&) = default;
};

/// Static text.
const char* message(ExpressionErrorKind kind);

inline constexpr std::uint32_t max_expression_stack = 64;
inline constexpr std::uint32_t max_expression_steps = 4096;

/// The inputs of an expression. Implemented by the caller.
class ExpressionContext {
public:
  /// The value of a register (DWARF number) in the current frame, or nothing.
  virtual std::optional<std::uint64_t> read_register(std::uint32_t reg) = 0;

  /// The number of `size` bytes (1 to 8) stored at `address`, in the target's byte order, zero-extended; or
  /// nothing.
  virtual std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) = 0;

protected:
  ~ExpressionContext() = default;
};

/// Parameters of an evaluation.
struct ExpressionSettings {
  ByteOrder byte_order = ByteOrder::little;
  std::uint8_t address_size = 8;    ///< bytes: 4 or 8. Arithmetic is modulo 2^(8 * address_size)
  std::optional<std::uint64_t> cfa; ///< pushed first if given: register rules start with the CFA on the
                                    ///< stack, the CFA's own rule does not
};

/// The value on top of the stack at the end. At most max_expression_steps operations. DW_OP_div and
/// comparisons are signed, DW_OP_mod is unsigned; shifts by the width or more give 0 (DW_OP_shra: the sign).
/// DW_OP_regN pushes the register's value, as DW_OP_bregN with 0.
expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings);

} // namespace sframe::cfi

#pragma GCC visibility pop
