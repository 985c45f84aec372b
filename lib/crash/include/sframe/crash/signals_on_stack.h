// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signals whose handlers a thread is in, from the signal frames on its stack. Where a handler of SIGSEGV
// ends the process with abort() or raise(), the core's own signal says nothing of the fault; the signal frame
// has what the kernel told the handler (SignalRecord in sframe/unwind/abi.h).

#pragma once

#include "sframe/core/core.h"
#include "sframe/process/process_state.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct SignalOnStack {
  std::uint32_t frame = 0; ///< the number of the frame that it interrupted
  core::SignalInfo info;   ///< a fault: its code is positive
  /// False: `info` may be left over from what was on the stack before. Then it is right if it fits the
  /// instruction.
  bool certain = false;
  bool from_instruction = false;  ///< there is no signal frame: the instruction has the fault
  unwind::FrameState interrupted; ///< that frame
};

/// The faults among the signals on a thread's stack, innermost first. Looks at 256 frames, and at 16 signal
/// frames. Changes the walker's limit of frames.
std::vector<SignalOnStack> signals_on_stack(const process::Thread& thread, process::CoreProcess& process,
                                            unwind::Walker& walker);

} // namespace sframe::crash

#pragma GCC visibility pop
