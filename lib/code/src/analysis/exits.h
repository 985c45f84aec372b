// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How control leaves a function. An instruction alone does not say: `jmp *%rcx` returns if rcx holds the
// return address, `br %r14` jumps within the function if r14 holds an entry of a jump table, and a return is
// a jump to elsewhere if the word on top of the stack was pushed by the function.

#pragma once

#include "subject.h"

#include <cstdint>
#include <span>

namespace sframe::code {

/// True for an indirect jump to the return address: s390x code that loads it into another register than r14,
/// as compilers do for processors before z13; AMD64 code that pops it into one (clang -mlvi-hardening:
/// `pop %rcx; lfence; jmp *%rcx`).
bool returns_by_jump(const Instruction& instruction, const State& state, const AbiTraits& abi);

/// True for a return to an entry of a jump table, or to an address in the function (s390x: `br %r14`).
bool jumps_like_return(const Instruction& instruction, const State& state, const Subject& subject);

/// The target of a return: the word that SP points to, else the register that the instruction names.
Value return_address(const Instruction& instruction, const State& state, const AbiTraits& abi);

/// What a return is.
Exit exit_of_return(const Instruction& instruction, const State& state, const Subject& subject);

inline bool calls_system(const Instruction& instruction) {
  return instruction.system_call >= 0 || instruction.system_call_register != Effect::none;
}

/// True for a system call of which the number is known and one of `calls`.
bool is_system_call(const Instruction& instruction, const State& state, std::span<const std::int32_t> calls);

} // namespace sframe::code
