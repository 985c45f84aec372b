// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a walk ends: the same reasons for walks of other processes and of the calling thread's stack.

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// Why a walk or a stepper stopped.
enum class StopReason : std::uint8_t {
  none,
  bottom,            ///< the outermost frame: there is no caller
  zero_pc,           ///< the return address is 0
  frame_limit,       ///< the requested number of frames is reached
  interrupted,       ///< the receiver of the frames requested the end
  no_rule,           ///< nothing covers the pc
  not_code,          ///< the pc is not in an executable mapping
  unreadable_memory, ///< a required word cannot be read
  unknown_register,  ///< a required register is unknown
  bad_table,         ///< the table is invalid
  loop,              ///< the caller is the frame itself
  frames_missing,    ///< the outermost frame, but some frames may be missing
  cfa_not_growing,   ///< the caller's frame is below this one
  budget,            ///< the input's budget is used up
  other_mode,        ///< code of another mode of the processor (32-bit code of an AMD64 process)
};

/// The reason as text. Static.
const char* message(StopReason reason);

} // namespace sframe::unwind

#pragma GCC visibility pop
