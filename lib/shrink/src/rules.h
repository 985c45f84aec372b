// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the interpreter of the proof. It has what lib/cfi leaves out, since no stack trace needs it: every
// register number, DW_CFA_GNU_args_size, and the meaning that libgcc gives DW_CFA_restore. It is written for
// comparing: a rule keeps what it was made of, and nothing is evaluated.

#pragma once

#include "sframe/abi.h"
#include "sframe/cfi/reader.h"
#include "sframe/cfi/section.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::shrink {

/// What DW_CFA_restore gives a register.
enum class Restored : std::uint8_t {
  nothing,     ///< no rule (libgcc)
  initial_rule ///< that of the CIE (DWARF 5, section 6.4.2.3)
};

/// How a register is found, in the terms of the instructions.
struct Recovery {
  enum class Kind : std::uint8_t { undefined, same, stored, value, other_register, stored_by, value_by };
  std::uint64_t reg = 0;
  Kind kind{};
  std::int64_t offset = 0; ///< or the other register
  std::span<const std::byte> expression;
};

/// All rules at an address.
struct Rules {
  bool has_cfa = false, cfa_by_expression = false;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  std::span<const std::byte> cfa_expression;
  std::vector<Recovery> registers; ///< by register
  std::uint64_t arguments = 0;     ///< DW_CFA_GNU_args_size
  unsigned signature = 0;          ///< AArch64: bits of the RA_SIGN_STATE pseudo-register

  /// What a reader sees: a register and offset under an expression are not visible.
  bool equals(const Rules& other) const;
};

/// Executes an FDE's instructions, range by range.
class Execution {
public:
  Execution(const cfi::Fde& fde, const AbiTraits& abi, Restored restored);

  /// The next range of addresses, not empty. False at the end, and after something unknown: see failed().
  bool next();
  bool failed() const { return failed_; }

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  /// Of the range: an advance has ended it, and what follows is not yet executed.
  const Rules& rules() const { return now_; }

private:
  bool execute(cfi::DwarfReader& reader, std::span<const std::byte> bytes);
  bool execute_cfa(std::uint8_t opcode, std::uint64_t reg, std::uint64_t number, std::int64_t offset,
                   std::span<const std::byte> expression);
  void set(const Recovery& recovery);
  void restore(std::uint64_t reg);

  cfi::Fde fde_;
  const AbiTraits& abi_;
  Restored restored_;
  Rules now_, initial_;
  std::vector<Rules> remembered_;
  cfi::DwarfReader reader_;
  std::uint64_t location_ = 0, begin_ = 0, end_ = 0;
  bool failed_ = false;
  bool finished_ = false;
};

} // namespace sframe::shrink
