// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a walk ends: the same words for walks of other processes and of the own stack.

#pragma once

#include <cstdint>

namespace sframe::unwind {

/// Why a walk, or a stepper, could not go on.
enum class StopReason : std::uint8_t {
  none,
  bottom,            ///< the outermost frame: there is no caller
  zero_pc,           ///< the return address is 0
  frame_limit,       ///< as many frames as were asked for
  interrupted,       ///< the receiver of the frames wants no more
  no_rule,           ///< nothing covers the pc
  not_code,          ///< the pc is in no executable mapping
  unreadable_memory, ///< a word that is needed cannot be read
  unknown_register,  ///< a register that is needed is not known
  bad_table,         ///< the table says something that makes no sense
  loop,              ///< the caller is the frame itself
  frames_missing,    ///< the outermost frame, but a stepper on the way may have passed over others
  cfa_not_growing,   ///< the caller would be further down the stack
  budget,            ///< what the input may cost is used up
};

/// What is wrong, in words. Static text.
const char* message(StopReason reason);

} // namespace sframe::unwind
