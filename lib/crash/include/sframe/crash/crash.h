// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a process died, for people: the fault of the signal that ended it, who sent the signal, what the C
// library said, and the fault before, if a handler of it has ended the process.
//
//   const auto handled = crash::signals_on_stack(process.threads().front(), process, walker);
//   const crash::Crash crash = crash::explain_crash(process, handled);

#pragma once

#include "sframe/crash/fault.h"
#include "sframe/crash/signals_on_stack.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::crash {

/// A fault that was handled: the handler, or what it called, has ended the process.
struct HandledFault : Fault {
  SignalOnStack from;
};

struct Crash : Fault {
  struct Sender {
    std::uint32_t pid = 0, user = 0;
  };

  std::uint32_t tid = 0;                   ///< of the thread that died; 0: no signal ended the process
  std::optional<Sender> sender;            ///< if a process sent the signal
  std::string message;                     ///< glibc's, of a process that it aborted; at most 4 KiB
  std::optional<HandledFault> first_fault; ///< before the signal, as first_fault() finds it
};

/// Explains the signal of a core, and the faults among `handled`, the signals on the stack of the thread that
/// died. May open the files of the modules at the pcs, and those of the addresses.
Crash explain_crash(process::CoreProcess& process, std::span<const SignalOnStack> handled);

/// The outermost of the faults among `handled`. If there is none: that of the instruction at the pc, if the
/// thread has sent itself the signal while it was blocked, and died after its handler (AMD64).
std::optional<HandledFault> first_fault(process::CoreProcess& process,
                                        std::span<const SignalOnStack> handled);

} // namespace sframe::crash

#pragma GCC visibility pop
