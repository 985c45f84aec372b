// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/trampoline.h"

#include <algorithm>
#include <array>

namespace sframe::unwind {

const SignalTrampoline* find_trampoline(const UnwindAbi& abi, Memory& memory, std::uint64_t pc) {
  std::array<std::byte, 32> found;
  for (const SignalTrampoline& trampoline : abi.trampolines)
    for (const std::uint8_t stop : trampoline.stops) {
      const auto bytes = std::span(found).first(std::min(trampoline.code.size(), found.size()));
      if (memory.bytes(pc - stop, bytes) && std::ranges::equal(std::as_bytes(trampoline.code), bytes))
        return &trampoline;
    }
  return nullptr;
}

StepResult step_by_trampoline(const SignalTrampoline& trampoline, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller) {
  const auto sp = frame.registers.get(abi.sp);
  if (!sp) return StepResult::failed(StopReason::unknown_register, abi.sp);
  caller.registers.known = 0;
  for (const SavedRegister& saved : trampoline.registers)
    if (const auto value = memory.word(*sp + saved.offset)) caller.registers.set(saved.reg, *value);
  const auto pc = memory.word(*sp + trampoline.pc_offset);
  if (!pc) return StepResult::failed(StopReason::unreadable_memory, *sp + trampoline.pc_offset);
  if (!caller.registers.has(abi.sp)) return StepResult::failed(StopReason::unreadable_memory, *sp);
  caller.registers.pc = *pc;
  caller.pc_exact = true;
  return {.status = StepStatus::stepped,
          .signal_frame = true,
          .has_cfa = true,
          .cfa = caller.registers.values[abi.sp] - static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa})};
}

} // namespace sframe::unwind
