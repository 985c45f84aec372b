// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates one AMD64 instruction, decoded by Zydis, to effects.

#pragma once

#include "sframe/code/instruction.h"

#include <Zydis/Zydis.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code::amd64 {

/// DWARF numbers used in this folder (System V psABI, figure 3.36).
inline constexpr std::uint8_t rax = 0, rdx = 1, rcx = 2, rbp = 6, rsp = 7;
/// The column of the return address, which is not a register. A jump through memory loads its target there.
inline constexpr std::uint8_t scratch = 16;

/// A general register or a part of one.
struct Gpr {
  std::uint8_t number = Effect::none; ///< DWARF; none: no general register
  std::uint8_t size = 0;              ///< bytes
  bool high = false;                  ///< ah, ch, dh, bh
};

/// The general register that a Zydis register is or is part of.
Gpr gpr(ZydisRegister reg);

/// The address of a memory operand: base + index * scale + value.
struct MemoryOperand {
  std::uint8_t base = Effect::none; ///< none: absolute
  std::uint8_t index = Effect::none;
  std::uint8_t scale = 0;
  std::int64_t value = 0;
};

/// The length of an instruction that is newer than the oldest supported Zydis (4.0), if it only reads general
/// registers and memory; else 0.
std::uint8_t length_of_newer_instruction(std::span<const std::byte> bytes);

/// Translates a decoded instruction. Used for one instruction only.
class Translator {
public:
  Translator(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operands,
             Instruction& instruction, std::vector<Effect>& effects)
      : raw_(raw), operands_(operands), instruction_(instruction), effects_(effects) {}

  void translate();

private:
  bool translate_control();
  bool translate_stack();
  bool translate_data();
  bool translate_arithmetic();
  bool leaves_memory_as_it_is() const;

  void set_target();
  void branch_to_target(Flow flow);
  void jump_or_call(bool is_call);
  void push();
  void pop();
  void move();
  bool extend(bool is_signed);
  void load_effective_address();
  bool add_or_subtract(int sign);
  bool compare();
  bool mask();
  bool poison_stack();
  bool mark_frame(Effect::Kind kind);
  bool shift_left();
  bool exchange();
  void generic();
  void overwrite(const MemoryOperand& memory, std::uint32_t size);
  void load(std::uint8_t reg, const ZydisDecodedOperand& operand, bool is_signed);

  bool is_register(std::uint32_t i, std::uint8_t size) const;
  /// Operands after the last are uninitialised.
  bool is(std::uint32_t i, ZydisOperandType type) const {
    return i < raw_.operand_count && operands_[i].type == type;
  }
  /// False if all operands are implied, as those of pushf and popf: the flags, SP and its word.
  bool has_operand() const { return raw_.operand_count_visible != 0; }
  bool is_memory(std::uint32_t i) const { return is(i, ZYDIS_OPERAND_TYPE_MEMORY); }
  bool is_immediate(std::uint32_t i) const { return is(i, ZYDIS_OPERAND_TYPE_IMMEDIATE); }
  Gpr reg(std::uint32_t i) const { return gpr(operands_[i].reg.value); }
  std::int64_t immediate(std::uint32_t i) const { return operands_[i].imm.value.s; }
  std::optional<MemoryOperand> memory_operand(const ZydisDecodedOperand& operand) const;

  const ZydisDecodedInstruction& raw_;
  const ZydisDecodedOperand* operands_;
  Instruction& instruction_;
  std::vector<Effect>& effects_;
};

} // namespace sframe::code::amd64
