// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one step with all registers, by any rule. Async-signal-safe.

#pragma once

#include "rule.h"
#include "stack_memory.h"

#include "sframe/unwind/registers.h"
#include "sframe/unwind/stop_reason.h"

namespace sframe::here {

/// A frame during a walk.
struct WalkFrame {
  unwind::Registers registers;
  /// The pc is that of the next instruction, not a return address.
  bool pc_exact = true;

  std::uint64_t lookup_pc() const { return registers.pc - !pc_exact; }
};

/// Replaces `frame` by its caller. Returns StopReason::none, or why there is no caller; the contents of
/// `frame` are then unspecified.
unwind::StopReason step(WalkFrame& frame, const FrameRule& rule, StackMemory& memory);

/// Replaces `frame`, which must be at a signal trampoline, by the interrupted frame. StopReason::no_rule if
/// it is not at a trampoline.
unwind::StopReason step_over_signal(WalkFrame& frame, StackMemory& memory);

/// The registers in a signal frame; `sp` is the SP of its trampoline (see SignalTrampoline). False if they
/// cannot be read.
bool read_signal_registers(std::uint64_t sp, StackMemory& memory, unwind::Registers& registers);

} // namespace sframe::here
