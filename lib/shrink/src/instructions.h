// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the operands of call frame instructions, without their meaning. What executes instructions is
// elsewhere: lib/cfi for the model, rules.h for the proof.

#pragma once

#include "sframe/cfi/opcodes.h"
#include "sframe/cfi/reader.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::shrink {

/// An instruction. The opcode of the three that have an operand in their low bits is without it.
struct Instruction {
  std::uint8_t opcode = 0;
  std::uint64_t reg = 0;                 ///< of those that name a register
  std::uint64_t number = 0;              ///< another unsigned operand; of an advance, its units
  std::int64_t offset = 0;               ///< a signed operand
  std::span<const std::byte> expression; ///< of those with a block
};

/// The next instruction; nothing if its opcode is unknown, it is DW_CFA_set_loc, or it runs past the end.
std::optional<Instruction> read_instruction(cfi::DwarfReader& reader, std::span<const std::byte> bytes);

/// What a run of instructions has, as far as it decides whether it may be written in another way.
struct Survey {
  bool understood = true;              ///< none but those that can be
  std::size_t size = 0;                ///< without the nops at the end
  std::vector<std::uint64_t> restored; ///< the registers of DW_CFA_restore
};

/// Linear. Not understood: unknown instructions, DW_CFA_GNU_args_size, DW_CFA_GNU_window_save except on
/// AArch64, registers that rows do not have.
Survey survey(std::span<const std::byte> instructions, const AbiTraits& abi);

} // namespace sframe::shrink
