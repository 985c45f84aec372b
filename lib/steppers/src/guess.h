// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: shared by the heuristic steppers. All find a return address by its place, and accept it only if
// it follows a call.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <optional>

namespace sframe::steppers {

/// The address plus `offset`, modulo 2^64.
constexpr std::uint64_t offset_by(std::uint64_t address, std::int64_t offset) {
  return address + static_cast<std::uint64_t>(offset);
}

/// True if the address is in executable memory, right after a call instruction. False if the bytes cannot be
/// read.
bool follows_call(const unwind::UnwindAbi& abi, unwind::Memory& memory, std::uint64_t address);

/// The target of the direct call that ends at the address; nothing for an indirect call or if there is none.
std::optional<std::uint64_t> target_of_call(const unwind::UnwindAbi& abi, unwind::Memory& memory,
                                            std::uint64_t address);

/// True if there is a frame record at `place`, which must not be below `lowest`, and its return address
/// follows a call. Interpreters jump to their callees with a return address of their choice, in code but not
/// after a call: such a record is accepted if the next one is, recursively.
bool is_frame_record(std::uint64_t address, std::uint64_t lowest, const unwind::FrameRecord& record,
                     const unwind::UnwindAbi& abi, unwind::Memory& memory);

/// Sets `caller` to the position after its call, with SP as before the call; its other registers are
/// unchanged.
unwind::StepResult guessed_call(unwind::FrameState& caller, const AbiTraits& abi,
                                std::uint64_t return_address, std::uint64_t cfa);

/// Sets `caller` from the trace of its call at `place` (UnwindAbi::call_trace); "not mine" if there is none.
/// SP and possibly FP are known, no other register.
unwind::StepResult step_by_trace(std::uint64_t address, const unwind::FrameState& frame,
                                 unwind::Memory& memory, const AbiTraits& abi,
                                 const unwind::UnwindAbi& unwind, unwind::FrameState& caller);

} // namespace sframe::steppers
