// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of opcodes: the registers that an instruction writes, or the handler that translates it exactly.

#pragma once

#include "handlers.h"

#include <cstdint>
#include <string_view>

namespace sframe::code::s390x {

/// Registers that an instruction writes, by the fields that name them. `next`: also the other register of a
/// pair. That is the following general register, or the floating point register number + 2.
enum Writes : std::uint16_t {
  nothing = 0,
  r1 = 1 << 0,
  r1_next = 1 << 1,
  r2 = 1 << 2,
  r2_next = 1 << 3,
  r3 = 1 << 4,
  r3_next = 1 << 5,
  f1 = 1 << 6, ///< the floating point register in R1
  f1_next = 1 << 7,
  f3 = 1 << 8, ///< the one in bits 16 to 19 (format RRD), or 32 to 35 (RXF, RSL)
  f3_next = 1 << 9,
  v1 = 1 << 10, ///< the vector register in bits 8 to 11, with its fifth bit in 36
  v5 = 1 << 11, ///< the one in bits 32 to 35, with its fifth bit in 39
  low = 1 << 12 ///< implicit registers, all among r0 to r5
};
constexpr Writes operator|(Writes a, Writes b) {
  return static_cast<Writes>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// One line of the table, for all opcodes that share it.
struct OpcodeRow {
  std::uint8_t prefix; ///< first byte of the opcode; 0 = single-byte opcodes
  std::string_view
      opcodes; ///< second bytes, or single-byte opcodes: pairs of hexadecimal digits; empty = all
  Writes writes = nothing;
  Handler handler = nullptr;
  std::uint8_t argument = 0; ///< for the handler
};

/// The row of an instruction, or nullptr for an unknown opcode. Reads as many bytes as the instruction's
/// length. Constant cost.
const OpcodeRow* find_row(Word word);

} // namespace sframe::code::s390x
