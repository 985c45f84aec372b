// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of Intel APX, which Zydis 4 does not know: with a REX2 prefix, and of EVEX's opcode map 4. The
// registers r16 to r31 are not tracked: calls do not preserve them, and no row names them. (Intel APX
// architecture specification, sections 3.1.1 to 3.1.3.)

#pragma once

#include "amd64/decoder.h"

namespace sframe::code::amd64 {

/// An instruction with a REX2 prefix as it is with a REX prefix, and in which of its fields the register is
/// one of r16 to r31 instead.
struct WithoutRex2 {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 0;          ///< of `bytes`, which may continue with other instructions
  std::uint8_t added_length = 0; ///< bytes by which the original is longer
  bool extends_reg = false, extends_rm = false, extends_index = false;
};

/// Empty if `bytes` do not start with a REX2 prefix before an opcode that may have one. Never reads beyond
/// `bytes`.
std::optional<WithoutRex2> without_rex2(std::span<const std::byte> bytes);

/// Replaces r0 to r15 by a register that is not tracked where the instruction names one of r16 to r31.
void hide_extended_registers(const WithoutRex2& instruction, std::span<ZydisDecodedOperand> operands);

/// Decodes jmpabs and the instructions of EVEX's map 4. Appends effects: all that is written is clobbered,
/// except by push2, pop2, and sums with a constant. False if it is none of these.
bool decode_apx(std::span<const std::byte> bytes, Instruction& instruction, std::vector<Effect>& effects);

} // namespace sframe::code::amd64
