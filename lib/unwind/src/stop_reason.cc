// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/stop_reason.h"

namespace sframe::unwind {

const char* message(StopReason reason) {
  switch (reason) {
  case StopReason::none: return "nothing is wrong";
  case StopReason::bottom: return "outermost frame";
  case StopReason::zero_pc: return "return address is 0";
  case StopReason::frame_limit: return "frame limit reached";
  case StopReason::interrupted: return "interrupted";
  case StopReason::no_rule: return "no unwind information for the pc";
  case StopReason::not_code: return "the pc is in no executable mapping";
  case StopReason::unreadable_memory: return "memory cannot be read";
  case StopReason::unknown_register: return "a register is needed that is not known";
  case StopReason::bad_table: return "unwind information makes no sense";
  case StopReason::loop: return "the caller would be the frame itself";
  case StopReason::frames_missing: return "outermost frame, but frames may be missing on the way to it";
  case StopReason::cfa_not_growing: return "the caller would be further down the stack";
  case StopReason::budget: return "the limits of what this input may cost are reached";
  }
  return "";
}

} // namespace sframe::unwind
