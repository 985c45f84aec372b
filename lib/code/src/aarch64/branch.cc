// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, exceptions and system instructions ("Branches, Exception Generating and System instructions" of
// the Arm ARM). System instructions include the hints. Return addresses are signed by hints, which older
// processors execute as no-operations.

#include "encoding.h"

#include <array>

namespace sframe::code::aarch64 {
namespace {

/// The target `imm` words away.
std::uint64_t target(const Instruction& instruction, std::int64_t imm) {
  return instruction.address + static_cast<std::uint64_t>(imm) * 4;
}

/// The meaning of conditions after an unsigned compare, indexed by the field `cond`.
constexpr std::array<Condition, 16> conditions = {
    Condition::equal, Condition::not_equal,      Condition::above_or_equal, Condition::below,
    Condition::other, Condition::other,          Condition::other,          Condition::other,
    Condition::above, Condition::below_or_equal, // the rest are signed compares, and "always" twice
};
constexpr std::uint32_t first_always = 14;

void decode_conditional(Word word, Instruction& instruction) {
  const std::uint32_t condition = word.field(3, 0);
  instruction.flow = condition >= first_always ? Flow::jump : Flow::branch;
  instruction.condition = conditions[condition];
  instruction.target = target(instruction, word.signed_field(23, 5));
}

void decode_hint(Word word, Instruction& instruction, EffectList& effects) {
  switch (word.field(11, 5)) { // CRm and op2
  case 0: instruction.is_nop = true; break;
  case 7: effects.authenticate(link_register, key_a); break; // xpaclri; uses no key, but removes the code
  case 8:
  case 10:
  case 12:
  case 14: effects.clobber(17); break; // pacia1716, pacib1716, auti...
  case 24:
  case 25: effects.sign(link_register, key_a); break; // paciaz, paciasp
  case 26:
  case 27: effects.sign(link_register, key_b); break; // pacibz, pacibsp
  case 28:
  case 29: effects.authenticate(link_register, key_a); break; // autiaz, autiasp
  case 30:
  case 31: effects.authenticate(link_register, key_b); break; // autibz, autibsp
  case 34:
  case 38: instruction.marks_start = true; break;     // bti c, bti jc
  case 39: effects.add_address(link_register); break; // pacm
  case 40: effects.clobber(16); break;                // chkfeat x16
  default: break; // bti, yield, barriers, and unallocated hints: no effect by definition
  }
}

void decode_exception(Word word, Instruction& instruction, EffectList& effects) {
  // Debuggers continue after this one (__builtin_debugtrap); other breakpoints are traps of compilers.
  constexpr std::uint32_t debug_trap = 0xf000;
  const std::uint32_t opc = word.field(23, 21);
  if (opc == 0) { // svc, hvc, smc: the result is in x0 (Linux, SMC calling convention: x0 to x3)
    const bool is_system_call = word.field(1, 0) == 1;
    if (is_system_call && word.field(20, 5) == 0) instruction.system_call_register = 8;
    const std::uint8_t results = is_system_call ? 1 : 4;
    for (std::uint8_t reg = 0; reg < results; ++reg) effects.clobber(reg);
  } else if ((opc == 1 || opc == 2) && word.field(20, 5) != debug_trap) { // brk, hlt
    instruction.flow = Flow::stop;
  }
}

/// MSR, MRS, SYS, SYSL, hints, barriers and their forms with two registers: bits 31 to 22 are fixed.
void decode_system(Word word, Instruction& instruction, EffectList& effects) {
  if (word.is(0xffff'f01f, 0xd503'201f)) return decode_hint(word, instruction, effects);
  effects.lose_flags(); // msr nzcv, cfinv, mrs rndr
  const bool pair = word.bit(22), reads = word.bit(21);
  if (!reads) return;
  clobber_general(effects, word.rd());
  if (pair) clobber_general(effects, static_cast<std::uint8_t>((word.rd() + 1) % 32));
}

/// BR, BLR, RET and their authenticating forms. The field opc: 0 br, 1 blr, 2 ret, 4 eret, 5 drps; with bit 3
/// also the first two with a modifier in another register.
void decode_to_register(Word word, Instruction& instruction, EffectList& effects) {
  const std::uint32_t opc = word.field(24, 21);
  const bool authenticated = word.bit(11);
  switch (opc & 7) {
  case 0:
    instruction.flow = Flow::indirect_jump;
    instruction.jump_register = word.rn();
    return;
  case 1:
    instruction.flow = Flow::indirect_call;
    instruction.jump_register = word.rn();
    instruction.link_register = link_register;
    return;
  case 2:
    if (authenticated) effects.authenticate(link_register, word.bit(10) ? key_b : key_a); // retaa, retab
    instruction.flow = Flow::ret;
    instruction.jump_register = authenticated ? link_register : word.rn();
    return;
  default: instruction.flow = Flow::stop; return; // eret, drps: back from an exception
  }
}

} // namespace

bool decode_branch(Word word, Instruction& instruction, EffectList& effects) {
  if (word.is(0x7c00'0000, 0x1400'0000)) { // b, bl
    instruction.target = target(instruction, word.signed_field(25, 0));
    instruction.flow = word.bit(31) ? Flow::call : Flow::jump;
    if (word.bit(31)) instruction.link_register = link_register;
  } else if (word.is(0x7e00'0000, 0x3400'0000)) { // cbz, cbnz
    instruction.target = target(instruction, word.signed_field(23, 5));
    instruction.flow = Flow::branch;
  } else if (word.is(0x7e00'0000, 0x3600'0000)) { // tbz, tbnz
    instruction.target = target(instruction, word.signed_field(18, 5));
    instruction.flow = Flow::branch;
  } else if (word.is(0x7e00'0000, 0x7400'0000)) { // cb<condition>: compares by itself
    instruction.target = target(instruction, word.signed_field(13, 5));
    instruction.flow = Flow::branch;
  } else if (word.is(0xff00'0000, 0x5400'0000)) { // b.<condition>, bc.<condition>
    decode_conditional(word, instruction);
  } else if (word.is(0xffc0'0000, 0x5500'0000)) { // retaasppc, retabsppc
    effects.authenticate(link_register, word.bit(21) ? key_b : key_a);
    instruction.flow = Flow::ret;
    instruction.jump_register = link_register;
  } else if (word.is(0xff00'0000, 0xd400'0000)) {
    decode_exception(word, instruction, effects);
  } else if (word.is(0xff80'0000, 0xd500'0000)) {
    decode_system(word, instruction, effects);
  } else if (word.is(0xff80'0000, 0xd580'0000)) { // tchangeb, tchangef
    clobber_general(effects, word.rd());
  } else if (word.is(0xfe00'0000, 0xd600'0000)) {
    decode_to_register(word, instruction, effects);
  } else {
    return false;
  }
  return true;
}

} // namespace sframe::code::aarch64
