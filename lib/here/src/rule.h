// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the rule for an address, from either source of rows: how CFA, return address and registers are
// computed.

#pragma once

#include "host.h"

#include "sframe/unwind/operation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::here {

using Operation = unwind::SmallOperation; ///< expressions start in FrameRule::section

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
