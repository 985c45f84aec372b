// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a module's rows as tables of their own. They keep nothing of the module's memory, which may be
// unmapped while a walk in another thread looks them up. Distinct rules are stored once: a library with a
// hundred thousand rows has a few thousand.

#pragma once

#include "own_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::here {

/// How one value of the caller is found.
struct Operation {
  enum class Kind : std::uint8_t {
    undefined,      ///< cannot be found
    value,          ///< register `base` (or the CFA) + offset
    stored,         ///< the word stored there
    expression,     ///< stored at the address that the expression gives
    val_expression, ///< what the expression gives
  };
  /// The base that stands for the CFA.
  static constexpr std::uint16_t cfa_base = 0xffff;

  Kind kind = Kind::undefined;
  std::uint8_t reg = 0;    ///< whose value it is; unused for CFA and RA
  std::uint16_t base = 0;  ///< DWARF register number or cfa_base. Expressions: size in bytes
  std::int32_t offset = 0; ///< bytes. Expressions: place in RuleSet's expression bytes

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// The rules that hold in a range of addresses.
struct Rule {
  /// What is true of a rule besides its operations.
  enum Flags : std::uint8_t {
    signal_frame = 1, ///< the caller was interrupted, not calling
    others_lost = 2,  ///< SFrame: of registers without operation nothing is known afterwards
  };

  std::span<const Operation> operations; ///< CFA, RA, and those of saved registers, SP last
  std::uint8_t flags = 0;

  const Operation& cfa() const { return operations[0]; }
  const Operation& ra() const { return operations[1]; }
  std::span<const Operation> saved() const { return operations.subspan(2); }
  bool outermost() const { return ra().kind == Operation::Kind::undefined; }
};

class RuleSet {
public:
  /// The number of the rule, which is added if there is no equal one. Its first two operations are those of
  /// CFA and RA.
  std::uint32_t number(std::span<const Operation> operations, std::uint8_t flags);

  /// The place of the bytes, which are added if they are not there.
  std::int32_t expression_place(std::span<const std::byte> bytes);

  /// Forgets what only the two above need. False where memory ran out: then this is of no use.
  bool finish();

  Rule rule(std::uint32_t number) const {
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
  /// An expression's bytes in expressions_.
  struct Place {
    std::uint32_t start, size;
  };

  std::span<const std::byte> bytes_of(const Place& place) const {
    return std::span<const std::byte>(expressions_).subspan(place.start, place.size);
  }

  Array<Head> heads_;
  Array<Operation> operations_;
  Array<std::byte> expressions_;
  NumberTable numbers_; ///< of heads_
  Array<Place> places_;
  NumberTable place_numbers_; ///< of places_
  bool failed_ = false;       ///< memory ran out; nothing is added any more
};

/// Which rule holds where: ranges in address order.
class RowTable {
public:
  /// The range from `begin` to `end`, in bytes from the module's first one. Ranges are added by increasing
  /// start; what an earlier one says from `begin` on is forgotten.
  void add(std::uint32_t begin, std::uint32_t end, std::uint32_t rule);

  /// The number of the rule that holds at the offset. Logarithmic.
  std::optional<std::uint32_t> find(std::uint32_t offset) const;

  /// False where memory ran out: then this is of no use.
  bool finish();
  std::size_t size() const { return starts_.size(); }
  std::size_t memory() const;

private:
  static constexpr std::uint32_t uncovered = 0xffffffff;
  void add_start(std::uint32_t start, std::uint32_t rule);

  Array<std::uint32_t> starts_;
  Array<std::uint32_t> rules_; ///< beside starts_
};

} // namespace sframe::here
