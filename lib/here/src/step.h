// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one step with all registers, by any rule. Async-signal-safe.

#pragma once

#include "rules.h"
#include "stack_memory.h"

#include "sframe/unwind/registers.h"
#include "sframe/unwind/stop_reason.h"

namespace sframe::here {

/// A frame on the way.
struct Frame {
  unwind::Registers registers;
  /// The pc is that of the next instruction, not a return address.
  bool pc_exact = true;

  std::uint64_t lookup_pc() const { return registers.pc - !pc_exact; }
};

/// Makes `frame` its caller by the rule, which is of `rules`. StopReason::none, or why there is no caller;
/// then what is in `frame` means nothing.
unwind::StopReason step(Frame& frame, const Rule& rule, const RuleSet& rules, StackMemory& memory);

/// Makes `frame`, which stands in the code that signal handlers return to, the frame that the signal
/// interrupted. StopReason::no_rule where it is not that code.
unwind::StopReason step_over_signal(Frame& frame, StackMemory& memory);

/// The registers that a signal frame has, whose SP is or would be `sp` (see SignalTrampoline). False where
/// they cannot be read.
bool read_signal_registers(std::uint64_t sp, StackMemory& memory, unwind::Registers& registers);

} // namespace sframe::here
