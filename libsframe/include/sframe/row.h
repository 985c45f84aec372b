// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row: how to find the caller's frame for one instruction, independent of the source.
//
// A row has three rules: how to find the CFA (canonical frame address), where the return address (RA) is, and
// where the caller's frame pointer (FP) is. SFrame sections, DWARF CFI and code analysis all produce this
// type, so that they can be compared, converted and applied by the same code. It can represent everything
// that SFrame version 3 can (SFrame 3 specification, sections 2.4 and 3) and is independent of versions, byte
// order and opcodes.
//
// Registers are DWARF register numbers of the ABI (abi.h names SP, FP and RA). Offsets are bytes.

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe {

/// One rule: how to find a value of the caller. Trivially copyable, 8 bytes.
struct Rule {
  enum class Kind : std::uint8_t {
    same,      ///< unchanged: still in its own register (FP, RA), or not saved
    undefined, ///< cannot be found: for RA, the outermost frame
    fixed,     ///< stored at the offset from the CFA given in the section's header (RA on AMD64)
    value,     ///< the value is base + offset
    stored,    ///< the value is the word stored at base + offset
  };

  /// The base that means the CFA; any other base is a DWARF register number.
  static constexpr std::uint16_t cfa_base = 0xffff;

  Kind kind = Kind::same;
  std::uint16_t base = 0;  ///< for value and stored: register number, or cfa_base
  std::int32_t offset = 0; ///< for value and stored: bytes

  static constexpr Rule same() { return {}; }
  static constexpr Rule undefined() { return {Kind::undefined, 0, 0}; }
  static constexpr Rule fixed() { return {Kind::fixed, 0, 0}; }
  /// The value of register `base` plus `offset`.
  static constexpr Rule value(std::uint16_t base, std::int32_t offset) { return {Kind::value, base, offset}; }
  /// The word stored at register `base` plus `offset`.
  static constexpr Rule stored(std::uint16_t base, std::int32_t offset) {
    return {Kind::stored, base, offset};
  }
  /// The word stored at CFA plus `offset`: where frames usually save registers.
  static constexpr Rule at_cfa(std::int32_t offset) { return {Kind::stored, cfa_base, offset}; }
  /// The value that register `reg` holds now.
  static constexpr Rule in_register(std::uint16_t reg) { return {Kind::value, reg, 0}; }

  friend constexpr bool operator==(const Rule&, const Rule&) = default;
};

/// One row: the rules from `offset` to the next row (or to the function's end).
struct FrameRow {
  std::uint32_t offset = 0; ///< bytes from the function's start (from the block's start in a PCMASK function)
  Rule cfa;                 ///< value or stored; undefined only in an outermost row
  Rule ra;
  Rule fp;
  bool ra_signed = false; ///< AArch64: the return address carries a pointer authentication code

  /// The canonical form of the row "no caller: the outermost frame" (SFrame 2 errata 2 and later).
  static constexpr FrameRow outermost(std::uint32_t offset) {
    return {offset, Rule::undefined(), Rule::undefined(), Rule::undefined(), false};
  }

  /// True if there is no caller.
  constexpr bool is_outermost() const { return ra.kind == Rule::Kind::undefined; }

  /// True if both rows have the same rules; offsets are ignored.
  constexpr bool same_rules(const FrameRow& other) const {
    return cfa == other.cfa && ra == other.ra && fp == other.fp && ra_signed == other.ra_signed;
  }

  friend constexpr bool operator==(const FrameRow&, const FrameRow&) = default;
};

} // namespace sframe

#pragma GCC visibility pop
