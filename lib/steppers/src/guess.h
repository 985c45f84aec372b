// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what the heuristic steppers share. All of them find a return address where one may be, and believe
// it only if it follows a call.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <optional>

namespace sframe::steppers {

/// The address `offset` bytes further; wraps as addresses do.
constexpr std::uint64_t offset_by(std::uint64_t address, std::int64_t offset) {
  return address + static_cast<std::uint64_t>(offset);
}

/// True where the address is in executable memory, right behind a call instruction. False where the bytes
/// cannot be read.
bool follows_call(const unwind::UnwindAbi& abi, unwind::Memory& memory, std::uint64_t address);

/// Where the direct call goes that ends at the address; nothing where it is indirect, or there is none.
std::optional<std::uint64_t> target_of_call(const unwind::UnwindAbi& abi, unwind::Memory& memory,
                                            std::uint64_t address);

/// True where a frame record is at `place`, at `lowest` or further up the stack, and a call left it: its
/// return address follows a call. Interpreters jump to what they call and give it a return address of their
/// choice, in code but after no call: such a record counts where the next one up the stack does in turn.
bool is_frame_record(std::uint64_t place, std::uint64_t lowest, const unwind::FrameRecord& record,
                     const unwind::UnwindAbi& abi, unwind::Memory& memory);

/// Makes `caller` stand behind its call, with SP as it was before; its other registers are left as they are.
unwind::StepResult guessed_call(unwind::FrameState& caller, const AbiTraits& abi,
                                std::uint64_t return_address, std::uint64_t cfa);

/// Makes `caller` by the trace of its call at `place` (UnwindAbi::call_trace); "not mine" where there is
/// none. Of other registers than SP, FP may be known.
unwind::StepResult step_by_trace(std::uint64_t place, const unwind::FrameState& frame, unwind::Memory& memory,
                                 const AbiTraits& abi, const unwind::UnwindAbi& unwind,
                                 unwind::FrameState& caller);

} // namespace sframe::steppers
