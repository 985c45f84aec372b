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

/// True if a rule found by lookup_pc(), an SframeMatch or CfiMatch, applies to the frame. A return address
/// just after a function normally means that it ends with a call that does not return. It may also be a
/// trampoline, which no instruction calls: then the rule is that of the function before the trampoline,
/// unless it is marked as a signal frame's, as tables that start a byte before the trampoline are.
template <class Match>
bool applies(const Match& match, const FrameState& frame, const UnwindAbi& abi, Memory& memory) {
  return frame.pc_exact || !match.ends_here || match.signal_frame ||
         !find_trampoline(abi, memory, frame.registers.pc);
}

} // namespace sframe::unwind

#pragma GCC visibility pop
