// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "steppers/guess.h"

#include <algorithm>
#include <array>

namespace sframe::walk {

bool follows_call(const UnwindAbi& abi, Memory& memory, std::uint64_t address) {
  if (!memory.space().is_code(address - 1)) return false;
  std::array<std::byte, 16> bytes;
  // Fewer bytes where a mapping starts just before.
  for (std::uint32_t size = abi.longest_call; size >= 2; --size)
    if (memory.bytes(address - size, std::span(bytes).first(size)))
      return abi.ends_with_call(std::span(bytes).first(size));
  return false;
}

StepResult guessed_call(FrameState& caller, const AbiTraits& abi, std::uint64_t return_address,
                        std::uint64_t cfa) {
  caller.registers.set(abi.sp, offset_by(cfa, abi.sp_from_cfa));
  caller.registers.pc = return_address;
  caller.pc_exact = false;
  return {.status = StepStatus::stepped, .trust = Trust::heuristic, .has_cfa = true, .cfa = cfa};
}

StepResult step_by_trace(std::uint64_t place, const FrameState& frame, Memory& memory, const AbiTraits& abi,
                         const UnwindAbi& unwind, FrameState& caller) {
  const CallTrace& trace = unwind.call_trace;
  const auto ra = memory.word(offset_by(place, trace.return_address));
  const std::uint64_t return_address = memory.code_address(ra.value_or(0));
  if (!ra || !follows_call(unwind, memory, return_address)) return StepResult::not_mine();
  std::uint64_t sp = offset_by(place, trace.sp);
  if (trace.sp_saved && memory.word(offset_by(place, *trace.sp_saved)) != sp) return StepResult::not_mine();
  // The trace of a call that the frame itself has made leads back to the frame.
  if (frame.registers.get(abi.sp) >= sp) return StepResult::not_mine();
  // Most code leaves FP alone; one that points into frames that are over is none.
  auto fp = frame.registers.get(abi.fp);
  if (fp && *fp < sp) fp.reset();
  if (trace.caller_fp) {
    fp = memory.word(offset_by(place, *trace.caller_fp));
    if (!fp || (*fp != 0 && (*fp < sp || *fp % sizeof *fp))) return StepResult::not_mine();
    sp = std::max(sp, *fp); // as in frames that have their record at the bottom
  }
  caller.registers.known = 0;
  if (fp) caller.registers.set(abi.fp, *fp);
  return guessed_call(caller, abi, return_address, offset_by(sp, -abi.sp_from_cfa));
}

} // namespace sframe::walk
