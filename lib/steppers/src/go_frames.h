// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what steppers by different tables do for functions of Go.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <cstdint>

namespace sframe::steppers {

/// The function that Go's runtime interrupted, to inject a call, need not have saved LR. `caller` is that
/// function, and gets its LR, the lowest of the `injected_size` bytes that were pushed for the call.
inline void restore_interrupted(const AbiTraits& abi, std::uint8_t injected_size, unwind::Memory& memory,
                                unwind::FrameState& caller) {
  const auto sp = caller.registers.get(abi.sp);
  if (const auto lr = sp ? memory.word(*sp - injected_size) : std::nullopt) caller.registers.set(abi.ra, *lr);
}

} // namespace sframe::steppers
