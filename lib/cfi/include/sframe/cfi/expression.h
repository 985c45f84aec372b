// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates DWARF expressions of call frame information (DWARF 5, sections 2.5.1 and 6.4.2) and location
// descriptions of variables (sections 2.5.1 and 2.6): a stack machine over registers and memory that the
// caller provides. Steps and stack are bounded, so that a hostile
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
  bad_size,    ///< DW_OP_deref_size of 0 or larger than an address; a type that is not supported
  no_register, ///< the caller does not have the register
  no_memory,   ///< the caller cannot read the memory
  no_value,    ///< the context lacks something else: a frame base, a value at the function's entry
  bad_piece,   ///< the description of a piece is followed by neither DW_OP_piece nor the end
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
  std::uint8_t offset_size = 4;     ///< bytes of DW_OP_implicit_pointer's reference: 4 or 8 (64-bit DWARF)
};

/// The value on top of the stack at the end. At most max_expression_steps operations. DW_OP_div and
/// comparisons are signed, DW_OP_mod is unsigned; shifts by the width or more give 0 (DW_OP_shra: the sign).
/// DW_OP_regN pushes the register's value, as DW_OP_bregN with 0.
expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings);
/// Same; adds the number of operations executed to `steps`, also if it fails.
expected<std::uint64_t, ExpressionError> evaluate(std::span<const std::byte> expression,
                                                  ExpressionContext& context,
                                                  const ExpressionSettings& settings, std::uint64_t& steps);

/// A base type of the stack's values (DWARF 5, section 2.5.1.6.) of 1 to 8 bytes.
struct ValueType {
  enum class Kind : std::uint8_t { generic, signed_number, unsigned_number, floating };
  Kind kind = Kind::generic;
  std::uint8_t size = 8; ///< bytes; of a floating-point number 4 or 8
};

/// Where an object, or a piece of it, is. Pieces follow one another from the object's first byte.
struct LocationPart {
  enum class Kind : std::uint8_t {
    nowhere, ///< the program does not have it any more
    memory,  ///< at address `value`
    reg,     ///< in register `value`
    number,  ///< it is the low bytes of `value`
    bytes,   ///< it is `bytes`
    pointer, ///< a pointer to an object that does not exist in memory
  };
  Kind kind = Kind::nowhere;
  std::uint64_t value = 0;
  std::span<const std::byte> bytes;
  /// Of a piece; empty: the object is one part.
  std::optional<std::uint64_t> bits;
  std::uint64_t bit_offset = 0; ///< of the piece in what the description leads to
};

/// What location descriptions need in addition. Implemented by the caller.
class LocationContext : public ExpressionContext {
public:
  /// Called for each part, in order. False ends the evaluation.
  virtual bool part(const LocationPart& part) = 0;
  /// The address in the process of an address in the file.
  virtual std::uint64_t relocated(std::uint64_t address) = 0;
  virtual std::optional<std::uint64_t> frame_base() = 0;
  virtual std::optional<std::uint64_t> call_frame_cfa() = 0;
  /// The value that the expression had at the function's entry.
  virtual std::optional<std::uint64_t> entry_value(std::span<const std::byte> expression) = 0;
  /// The value that the caller passed for the parameter at an offset in the unit, which the function does not
  /// have any more.
  virtual std::optional<std::uint64_t> passed_value(std::uint64_t parameter) = 0;
  /// The entry of .debug_addr, as it is in the file.
  virtual std::optional<std::uint64_t> indexed(std::uint64_t index) = 0;
  /// The base type at an offset in the unit.
  virtual std::optional<ValueType> base_type(std::uint64_t offset) = 0;

protected:
  ~LocationContext() = default;
};

/// The parts of the location description, each passed to the context; none for an empty description. At most
/// max_expression_steps operations, and so many parts; the number of operations is added to `steps`. Not
/// supported: DW_OP_call*, thread-local storage, DW_OP_push_object_address.
expected<void, ExpressionError> evaluate_location(std::span<const std::byte> description,
                                                  LocationContext& context,
                                                  const ExpressionSettings& settings, std::uint64_t& steps);

} // namespace sframe::cfi

#pragma GCC visibility pop
