// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes signal trampolines, the code to which signal handlers return, by their bytes.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// The trampoline that `pc` is in, or nullptr.
const SignalTrampoline* find_trampoline(const UnwindAbi& abi, Memory& memory, std::uint64_t pc);

/// Steps to the interrupted frame: all registers come from the signal frame.
StepResult step_by_trampoline(const SignalTrampoline& trampoline, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller);

/// True if a rule found by lookup_pc() belongs to the function before the frame's. A return address just
/// after a function normally means that it ends with a call that does not return. It may also be a
/// trampoline, which no instruction calls.
inline bool is_next_to_trampoline(const FrameState& frame, bool rule_ends_here, const UnwindAbi& abi,
                                  Memory& memory) {
  return !frame.pc_exact && rule_ends_here && find_trampoline(abi, memory, frame.registers.pc);
}

} // namespace sframe::unwind

#pragma GCC visibility pop
