// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/trampoline.h"

namespace sframe::unwind {

const SignalTrampoline* find_trampoline(const UnwindAbi& abi, Memory& memory, std::uint64_t pc) {
  const auto read = [&](std::uint64_t address, std::span<std::byte> out) {
    return memory.bytes(address, out);
  };
  return find_trampoline(abi, read, pc);
}

bool interrupts_other_mode(const UnwindAbi& abi, std::uint16_t sp, const FrameState& frame, Memory& memory) {
  const auto place = frame.registers.get(sp);
  if (!abi.mode || !place || !find_trampoline(abi, memory, frame.registers.pc)) return false;
  const auto value = memory.word(*place + abi.mode->saved);
  return value && abi.mode->is_other(*value);
}

StepResult step_by_trampoline(const SignalTrampoline& trampoline, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller) {
  const auto sp = frame.registers.get(abi.sp);
  if (!sp) return StepResult::failed(StopReason::unknown_register, abi.sp);
  const auto load = [&](std::uint64_t address, std::uint64_t& value) { return memory.load(address, value); };
  if (!read_saved_registers(trampoline, *sp, load, caller.registers))
    return StepResult::failed(StopReason::unreadable_memory, *sp + trampoline.pc_offset);
  if (!caller.registers.has(abi.sp)) return StepResult::failed(StopReason::unreadable_memory, *sp);
  caller.pc_exact = true;
  return {.status = StepStatus::stepped,
          .signal_frame = true,
          .has_cfa = true,
          .cfa = caller.registers.values[abi.sp] - static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa})};
}

} // namespace sframe::unwind
