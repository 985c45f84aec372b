// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/stop_reason.h"

namespace sframe::unwind {

const char* message(StopReason reason) {
  switch (reason) {
  case StopReason::none: return "no error";
  case StopReason::bottom: return "outermost frame";
  case StopReason::zero_pc: return "return address is 0";
  case StopReason::frame_limit: return "frame limit reached";
  case StopReason::interrupted: return "the receiver ended the walk";
  case StopReason::no_rule: return "no unwind information for the pc";
  case StopReason::not_code: return "the pc is not in an executable mapping";
  case StopReason::unreadable_memory: return "memory cannot be read";
  case StopReason::unknown_register: return "the value of a needed register is unknown";
  case StopReason::bad_table: return "invalid unwind information";
  case StopReason::loop: return "the caller's frame is this frame itself";
  case StopReason::frames_missing: return "reached the outermost frame; some frames may be missing";
  case StopReason::cfa_not_growing: return "the caller's frame is below this one";
  case StopReason::budget: return "the limit on the cost of this input is reached";
  case StopReason::other_mode: return "32-bit code in a 64-bit process";
  }
  return "";
}

} // namespace sframe::unwind
