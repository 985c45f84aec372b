// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes an FDE's instructions: ranges of addresses with their rules (DWARF 5, sections 6.4.1 to 6.4.3, and
// the GNU and AArch64 additions).
//
// A cursor of constant size returns the rows one by one; nothing is allocated for a row. Which registers are
// tracked is a policy of the cursor: MinimalRegisters tracks what a stack trace needs, AllRegisters what an
// unwinder restores; rules for other registers are parsed and dropped. Both use the same engine.
//
//   sframe::cfi::MinimalRowCursor rows(section, fde);
//   for (sframe::cfi::MinimalRow row; rows.next(row);) ...
//   if (rows.error()) ...
//
// Ranges are never empty, and adjacent ones touch: the rows of a valid FDE cover it without gaps. Several
// changes at one address give one row. Rows with equal rules are not merged.

#pragma once

#include "sframe/cfi/section.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::cfi { // private
class DwarfReader;
}

#pragma GCC visibility push(default)

namespace sframe::cfi {

/// Supported nesting of DW_CFA_remember_state. Compilers nest to 1 or 2.
inline constexpr std::uint32_t max_remembered_states = 64;

/// Maximum size in bytes of a CIE's initial instructions: they are executed for each FDE. Real ones have less
/// than 50.
inline constexpr std::size_t max_initial_instructions = 1024;

/// How to find the caller's value of one register. Trivially copyable, 16 bytes.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    unspecified,    ///< no rule: by the ABI's convention unchanged if call-saved, else lost
    undefined,      ///< lost
    same,           ///< unchanged
    offset,         ///< stored at CFA + offset
    val_offset,     ///< is CFA + offset
    reg,            ///< in register `number`
    expression,     ///< stored at the address computed by the expression, with the CFA on the stack
    val_expression, ///< the value computed by the expression, with the CFA on the stack
  };

  Kind kind = Kind::unspecified;
  std::uint32_t number = 0; ///< reg: register number. Expressions: size in bytes
  std::int64_t offset = 0;  ///< offset, val_offset: bytes. Expressions: offset in the section

  friend bool operator==(const RegisterRule&, const RegisterRule&) = default;
};

/// How the CFA is computed. Trivially copyable, 16 bytes.
struct CfaRule {
  enum class Kind : std::uint8_t {
    unspecified,     ///< no instruction has defined it
    register_offset, ///< register `number` + offset
    expression,      ///< the value computed by the expression, on an empty stack
  };

  Kind kind = Kind::unspecified;
  std::uint32_t number = 0; ///< register number, or the expression's size in bytes
  std::int64_t offset = 0;  ///< bytes, or the expression's offset in the section

  friend bool operator==(const CfaRule&, const CfaRule&) = default;
};

/// Tracks RA (the CIE's column), FP and SP.
struct MinimalRegisters {
  static constexpr std::uint32_t slots = 3;
  static constexpr std::uint32_t inline_states = 4;

  std::uint32_t ra = 0, fp = 0, sp = 0;

  MinimalRegisters() = default;
  MinimalRegisters(const AbiTraits& abi, std::uint32_t return_register)
      : ra(return_register), fp(abi.fp), sp(abi.sp) {}

  /// The slot of a register, or `slots` if it is not tracked.
  std::uint32_t slot(std::uint64_t reg) const {
    return reg == ra ? 0 : reg == fp ? 1 : reg == sp ? 2 : slots;
  }
};

/// Tracks every register below 96: all general and vector registers of the ABIs that SFrame supports.
struct AllRegisters {
  static constexpr std::uint32_t slots = 96;
  static constexpr std::uint32_t inline_states = 2;

  AllRegisters() = default;
  AllRegisters(const AbiTraits&, std::uint32_t) {}

  std::uint32_t slot(std::uint64_t reg) const {
    return reg < slots ? static_cast<std::uint32_t>(reg) : slots;
  }
};

/// Tracks the registers below `count`, for callers that must not allocate. If states nest deeper than
/// inline_states, which no compiler does, fails with ErrorKind::state_stack_full.
template <std::uint32_t count> struct FirstRegisters {
  static constexpr std::uint32_t slots = count;
  static constexpr std::uint32_t inline_states = 6;
  static constexpr bool inline_states_only = true;

  FirstRegisters() = default;
  FirstRegisters(const AbiTraits&, std::uint32_t) {}

  std::uint32_t slot(std::uint64_t reg) const {
    return reg < slots ? static_cast<std::uint32_t>(reg) : slots;
  }
};
/// AMD64: those that calls save, and the return address. The others begin with vector registers.
using GeneralAmd64Registers = FirstRegisters<17>;
/// All general registers of every ABI.
using GeneralRegisters = FirstRegisters<34>;

/// The rules alone: the state saved by DW_CFA_remember_state.
template <class Registers> struct RowRules {
  CfaRule cfa;
  bool ra_signed = false; ///< AArch64: bit 0 of the RA_SIGN_STATE pseudo-register
  bool ra_signed_with_pc =
      false; ///< AArch64: bit 1; the signature also covers the signing instruction's address
  std::array<RegisterRule, Registers::slots> rules; ///< by slot
};

/// A range of addresses and its rules.
template <class Registers> struct Row : RowRules<Registers> {
  std::uint64_t begin = 0; ///< address of the first byte
  std::uint64_t end = 0;   ///< address after the last byte; above begin
  std::uint64_t fde_start = 0;
  std::uint32_t return_register = 0; ///< the CIE's column of the return address
  Registers registers;
  std::span<const std::byte> section; ///< the bytes that contain the expressions

  /// The rule of a register; unspecified if it is not tracked.
  RegisterRule rule(std::uint64_t reg) const {
    const std::uint32_t slot = registers.slot(reg);
    return slot < Registers::slots ? this->rules[slot] : RegisterRule{};
  }
  /// The rule of the return address.
  RegisterRule ra() const { return rule(return_register); }
  /// Makes the frame an outermost one, if that rule is tracked.
  void forget_return_address() {
    const std::uint32_t slot = registers.slot(return_register);
    if (slot < Registers::slots) this->rules[slot] = {.kind = RegisterRule::Kind::undefined};
  }

  /// The bytes of an expression rule of this row; empty for any other rule.
  std::span<const std::byte> expression(const RegisterRule& r) const {
    const bool is = r.kind == RegisterRule::Kind::expression || r.kind == RegisterRule::Kind::val_expression;
    return is ? section.subspan(static_cast<std::size_t>(r.offset), r.number) : std::span<const std::byte>{};
  }
  std::span<const std::byte> expression(const CfaRule& r) const {
    return r.kind == CfaRule::Kind::expression ? section.subspan(static_cast<std::size_t>(r.offset), r.number)
                                               : std::span<const std::byte>{};
  }
};

/// Executes the instructions of one FDE. Valid as long as the section's bytes. About 1 KiB with
/// MinimalRegisters, 6 KiB with AllRegisters. Allocates only if states nest deeper than
/// Registers::inline_states; never with FirstRegisters.
template <class Registers> class BasicRowCursor {
public:
  /// Executes the CIE's initial instructions; if they fail, error() is set at once and there are no rows.
  BasicRowCursor(const CfiSection& section, const Fde& fde);

  /// The next row. False at the end and at the first error; see error(). The rows before the error are
  /// correct; the range in progress at the error is not returned, except that an advance past the FDE's end
  /// (ErrorKind::past_end) first returns the row up to the end. Cost: linear in the instructions that the row
  /// needs.
  bool next(Row<Registers>& row);

  /// Advances to the row that contains `pc`; false if there is none (pc is below the remaining rows or
  /// outside the FDE, or an error comes first).
  bool find(std::uint64_t pc, Row<Registers>& row);

  /// The offset in the section of the last executed instruction.
  std::uint64_t instruction() const { return instruction_; }

  /// Where the instructions executed so far have arrived: after the last row, the address that its rules
  /// hold from, or the FDE's end if an instruction named that.
  std::uint64_t location() const { return location_; }

  /// True if none of the instructions executed so far names an address (DW_CFA_set_loc). Then they give the
  /// same rows, at the same distances, in any FDE with the same CIE that extends beyond location().
  bool relocatable() const { return relocatable_; }

  /// Set after an error.
  const std::optional<Error>& error() const { return error_; }

private:
  using State = RowRules<Registers>;
  enum class Step : std::uint8_t { done, advanced, failed };

  /// A state that is not initialised until it is used.
  union Saved {
    Saved() {}
    State state;
  };

  void run_initial(const Cie& cie);
  bool complete(std::uint64_t& end);
  DwarfReader instructions() const;
  Step execute(DwarfReader& reader);
  Step execute_extended(std::uint8_t opcode, DwarfReader& reader);
  Step define_cfa(std::uint8_t opcode, DwarfReader& reader);
  Step define_register(std::uint8_t opcode, DwarfReader& reader);
  Step negate_ra_state(bool with_pc);
  Step advance(std::uint64_t units);
  Step set_location(DwarfReader& reader);
  Step move_to(std::uint64_t location);
  Step restore(std::uint64_t reg);
  Step remember_state();
  Step restore_state();
  Step fail(ErrorKind kind);
  void set(std::uint64_t reg, const RegisterRule& rule);
  void emit_row(Row<Registers>& row, std::uint64_t end);

  CfiSection section_;
  Registers registers_;
  std::uint64_t begin_ = 0;    ///< of the row in progress
  std::uint64_t location_ = 0; ///< the instructions' current location
  std::uint64_t end_ = 0;      ///< of the FDE's range
  std::uint64_t fde_start_ = 0;
  std::uint64_t at_ = 0;          ///< the next instruction, in the section
  std::uint64_t stop_ = 0;        ///< end of the instructions
  std::uint64_t instruction_ = 0; ///< the current one
  std::uint64_t code_alignment_ = 0;
  std::int64_t data_alignment_ = 0;
  std::uint32_t return_register_ = 0;
  std::uint32_t depth_ = 0; ///< remembered states
  std::uint8_t fde_encoding_ = 0;
  std::uint8_t address_size_ = 8;
  bool initial_ = true; ///< executing the CIE's instructions
  bool relocatable_ = true;
  State state_;
  State cie_state_;                                           ///< what DW_CFA_restore restores
  std::array<Saved, Registers::inline_states> inline_states_; ///< the first remembered states
  std::vector<State> heap_states_;                            ///< more deeply nested states
  std::optional<Error> error_;
};

extern template class BasicRowCursor<MinimalRegisters>;
extern template class BasicRowCursor<AllRegisters>;
extern template class BasicRowCursor<GeneralAmd64Registers>;
extern template class BasicRowCursor<GeneralRegisters>;

using MinimalRow = Row<MinimalRegisters>;
using FullRow = Row<AllRegisters>;
/// For conversion and verification.
using MinimalRowCursor = BasicRowCursor<MinimalRegisters>;
/// For unwinding.
using FullRowCursor = BasicRowCursor<AllRegisters>;

} // namespace sframe::cfi

#pragma GCC visibility pop
