// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a module's rows as tables. They do not refer to the module's memory, which may be unmapped while
// another thread's walk uses them. Equal rules are stored once: a library with a hundred thousand rows has a
// few thousand.

#pragma once

#include "mapped_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::here {

/// How one value of the caller is computed.
struct Operation {
  enum class Kind : std::uint8_t {
    undefined,      ///< unknown
    value,          ///< register `base` (or the CFA) + offset
    stored,         ///< the word at that address
    expression,     ///< the word at the address computed by the expression
    val_expression, ///< the value of the expression
  };
  /// The base that stands for the CFA.
  static constexpr std::uint16_t cfa_base = 0xffff;

  Kind kind = Kind::undefined;
  std::uint8_t reg = 0;    ///< the register; unused for CFA and RA
  std::uint16_t base = 0;  ///< DWARF register number or cfa_base. Expressions: size in bytes
  std::int32_t offset = 0; ///< bytes. Expressions: offset in RulePool's expression bytes

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// The rule for a range of addresses.
struct CompiledRule {
  /// Properties of a rule other than its operations.
  enum Flags : std::uint8_t {
    signal_frame = 1,         ///< the caller was interrupted
    other_registers_lost = 2, ///< SFrame: registers without operation are unknown afterwards
  };

  std::span<const Operation> operations; ///< CFA, RA, then saved registers, SP last
  std::uint8_t flags = 0;

  const Operation& cfa() const { return operations[0]; }
  const Operation& ra() const { return operations[1]; }
  std::span<const Operation> saved() const { return operations.subspan(2); }
  bool outermost() const { return ra().kind == Operation::Kind::undefined; }
};

class RulePool {
public:
  /// The number of the rule, which is added unless there is an equal one. The first two operations are those
  /// of CFA and RA.
  std::uint32_t number(std::span<const Operation> operations, std::uint8_t flags);

  /// The offset of the expression, which is added unless it is there.
  std::int32_t expression_offset(std::span<const std::byte> bytes);

  /// Frees what only the two functions above need. False if memory ran out: the object is unusable then.
  bool finish();

  CompiledRule rule(std::uint32_t number) const {
    const Head& head = heads_[number];
    return {std::span(operations_).subspan(head.first, head.count), head.flags};
  }
  std::span<const std::byte> expression(const Operation& operation) const {
    return std::span<const std::byte>(expressions_)
        .subspan(static_cast<std::uint32_t>(operation.offset), operation.base);
  }
  std::size_t memory() const;

private:
  struct Head {
    std::uint32_t first;
    std::uint16_t count;
    std::uint8_t flags;
  };
  /// An expression's position in expressions_.
  struct ExpressionRange {
    std::uint32_t start, size;
  };

  std::span<const std::byte> bytes_of(const ExpressionRange& range) const {
    return std::span<const std::byte>(expressions_).subspan(range.start, range.size);
  }

  Array<Head> heads_;
  Array<Operation> operations_;
  Array<std::byte> expressions_;
  NumberTable numbers_; ///< of heads_
  Array<ExpressionRange> expression_ranges_;
  NumberTable expression_numbers_; ///< of expression_ranges_
  bool failed_ = false;            ///< memory ran out; nothing is added any more
};

/// Rules by address range, in address order.
class RowTable {
public:
  /// Adds the range from `begin` to `end`, in bytes from the module's start. Ranges must be added by
  /// increasing start; the part of an earlier range from `begin` on is dropped.
  void add(std::uint32_t begin, std::uint32_t end, std::uint32_t rule);

  /// The number of the rule for the offset. Logarithmic.
  std::optional<std::uint32_t> find(std::uint32_t offset) const;

  /// False if memory ran out: the object is unusable then.
  bool finish();
  std::size_t size() const { return starts_.size(); }
  std::size_t memory() const;

private:
  static constexpr std::uint32_t uncovered = 0xffffffff;
  void add_start(std::uint32_t start, std::uint32_t rule);

  Array<std::uint32_t> starts_;
  Array<std::uint32_t> rules_; ///< same indices as starts_
};

} // namespace sframe::here
