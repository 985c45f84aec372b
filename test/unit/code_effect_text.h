// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats a decoded instruction as a line of text for comparison in tests. Registers are rN by their DWARF
// numbers:
//
//    r31 := r31 - 32; [r31] := r29; [r31 + 8] := r30
//    r0 += r1 * 4; r1 &= -16; r2 := [r3 + r4*8].4s; [r31 + 8].4 := ?; r5 := ?; sign r30 A; compare r0, 5
//    -> call 0x1010 link r30

#pragma once

#include "sframe/code/instruction.h"

#include <span>
#include <string>
#include <vector>

namespace sframe::test {

inline std::string register_text(std::uint8_t reg) {
  return "r" + std::to_string(reg);
}

/// " + 8", " - 8" or empty for 0.
inline std::string offset_text(std::int64_t value) {
  if (value == 0) return "";
  return value < 0 ? " - " + std::to_string(-value) : " + " + std::to_string(value);
}

inline std::string sum_text(const code::Effect& effect) {
  if (effect.source == code::Effect::none) return std::to_string(effect.value);
  return register_text(effect.source) + offset_text(effect.value);
}

inline std::string width_text(const code::Effect& effect) {
  if (effect.size == 0) return "";
  return "." + std::to_string(effect.size) + (effect.is_signed ? "s" : "");
}

inline std::string effect_text(const code::Effect& effect) {
  using Kind = code::Effect::Kind;
  const std::string reg = register_text(effect.reg), value = std::to_string(effect.value);
  switch (effect.kind) {
  case Kind::set:
    return reg + " := " + (effect.size ? "(" + sum_text(effect) + ")" : sum_text(effect)) +
           width_text(effect);
  case Kind::add:
    return reg + " += " +
           (effect.source == code::Effect::none ? value : register_text(effect.source) + " * " + value);
  case Kind::add_vectors: return reg + " := " + register_text(effect.source) + " + " + value + "/8 vectors";
  case Kind::mask: return reg + " &= " + register_text(effect.source);
  case Kind::or_zero: return reg + " or 0";
  case Kind::align: return reg + " &= " + value;
  case Kind::load: return reg + " := [" + sum_text(effect) + "]";
  case Kind::load_table:
    return reg + " := [" + register_text(effect.source) + " + " + register_text(effect.index) + "*" +
           std::to_string(effect.scale) + offset_text(effect.value) + "]" + width_text(effect);
  case Kind::store: return "[" + sum_text(effect) + "] := " + reg;
  case Kind::overwrite: return "[" + sum_text(effect) + "]" + width_text(effect) + " := ?";
  case Kind::clobber: return reg + " := ?";
  case Kind::sign:
    return "sign " + reg + (effect.index ? " B" : " A") + (effect.value ? " with its address" : "");
  case Kind::add_address: return "add address " + reg;
  case Kind::authenticate: return "authenticate " + reg + (effect.index ? " B" : " A");
  case Kind::compare:
    return "compare " + reg + ", " +
           (effect.source == code::Effect::none ? value : register_text(effect.source));
  }
  return "";
}

inline std::string flow_text(const code::Instruction& instruction) {
  constexpr const char* names[] = {"",          "jump",           "branch",        "call",
                                   "indirect",  "indirect or on", "indirect call", "ret",
                                   "ret or on", "stop",           "trap",          "patchable"};
  constexpr const char* conditions[] = {"",       " above",    " above or equal", " below", " below or equal",
                                        " equal", " not equal"};
  using code::Flow;
  std::string text = names[static_cast<unsigned>(instruction.flow)];
  text += conditions[static_cast<unsigned>(instruction.condition)];
  constexpr char digits[] = "0123456789abcdef";
  if (instruction.target) {
    if (instruction.flow == Flow::next) text += "execute";
    std::string hex;
    for (std::uint64_t rest = instruction.target; rest; rest /= 16)
      hex.insert(hex.begin(), digits[rest % 16]);
    text += " 0x" + hex;
  }
  if (instruction.jump_register != code::Effect::none) text += " " + register_text(instruction.jump_register);
  if (instruction.link_register != code::Effect::none)
    text += " link " + register_text(instruction.link_register);
  return text;
}

/// The text of the instruction in `bytes`, which are at 0x1000; "no instruction" if it cannot be decoded.
inline std::string decoded_text(code::Decoder& decoder, std::span<const std::byte> bytes) {
  code::Instruction instruction;
  std::vector<code::Effect> effects;
  if (!decoder.decode(bytes, 0x1000, instruction, effects)) return "no instruction";
  std::string text;
  for (const auto& effect : effects) text += (text.empty() ? "" : "; ") + effect_text(effect);
  if (instruction.is_nop) text += "nop";
  if (const std::string flow = flow_text(instruction); !flow.empty())
    text += (text.empty() ? "-> " : " -> ") + flow;
  return text;
}

} // namespace sframe::test
