// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the rule for an address, from either source of rows: how CFA, return address and registers are
// computed.

#pragma once

#include "host.h"

#include <array>
#include <cstddef>
#include <cstdint>
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
  std::int32_t offset = 0; ///< bytes. Expressions: offset in FrameRule::section

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// CFA, RA, and a row's registers; SP may have an operation besides its slot's.
using Operations = std::array<Operation, host::CfiRegisters::slots + 3>;

/// The rule for an address. A view: of the Operations that it was decoded to, and of the section.
struct FrameRule {
  /// Properties other than the operations.
  enum Flags : std::uint8_t {
    signal_frame = 1,         ///< the caller was interrupted
    other_registers_lost = 2, ///< SFrame: registers without operation are unknown afterwards
  };

  std::span<const Operation> operations; ///< CFA, RA, then saved registers, SP last
  std::uint8_t flags = 0;
  std::span<const std::byte> section; ///< the bytes that contain the expressions

  const Operation& cfa() const { return operations[0]; }
  const Operation& ra() const { return operations[1]; }
  std::span<const Operation> saved() const { return operations.subspan(2); }
  bool outermost() const { return ra().kind == Operation::Kind::undefined; }
  std::span<const std::byte> expression(const Operation& operation) const {
    return section.subspan(static_cast<std::uint32_t>(operation.offset), operation.base);
  }
};

} // namespace sframe::here
