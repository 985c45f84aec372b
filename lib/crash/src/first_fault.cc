// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fault that a handler answered with the end of the process. What the kernel has put on the stack for a
// handler may be older than the handler's own signal; then the instruction that was interrupted must be able
// to raise such a fault.

#include "sframe/crash/crash.h"

#include "fault_frame.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sframe::crash {

namespace {

using namespace core;
using Access = Fault::Access;

/// True if the memory of the core allows what a fault is about: its handler has made that possible, and has
/// returned.
bool is_permitted(const Core& core, const Fault& fault) {
  if (!core.has_permissions() || !fault.address || (fault.code != segv_maperr && fault.code != segv_accerr))
    return false;
  const MemoryRange* const range = core.range_at(*fault.address);
  const std::uint32_t flag = fault.access == Access::read      ? elf::pf_r
                             : fault.access == Access::execute ? elf::pf_x
                                                               : elf::pf_w;
  return range && range->flags & flag;
}

/// True if it is known to fault.
bool division_faults(const FaultFrame& frame, const code::InstructionOperands& operands) {
  const FaultAbi& abi = frame.abi();
  const auto divisor = operands.divisor ? frame.value_of(*operands.divisor, operands) : std::nullopt;
  return divisor && abi.division_faults &&
         abi.division_faults(operands, *divisor, frame.registers()).value_or(false);
}

/// Why the instruction of a frame faults, if it does: `info` is to have its signal.
bool find_fault(const FaultFrame& frame, SignalInfo& info) {
  const auto is_missing = [&](std::uint64_t address, std::uint32_t flag) {
    const MemoryRange* const range = frame.core().range_at(address);
    info.address = address;
    info.code = !frame.abi().is_canonical(address) ? si_kernel : range ? segv_accerr : segv_maperr;
    return !range || !(range->flags & flag);
  };
  if (info.signal == sigsegv && is_missing(frame.pc(), elf::pf_x)) return true;
  const auto operands = frame.operands_at(frame.pc());
  if (operands.length == 0) return false;
  if (info.signal == sigsegv)
    return std::ranges::any_of(operands.memory, [&](const code::MemoryAccess& memory) {
      const auto address = frame.address_of(memory);
      return address && (memory.reads || memory.writes) &&
             is_missing(*address, memory.writes ? elf::pf_w : elf::pf_r);
    });
  info.address = frame.pc();
  info.code = info.signal == sigfpe ? fpe_intdiv : ill_illopn;
  return info.signal == sigfpe ? division_faults(frame, operands)
                               : info.signal == sigill && operands.is_undefined;
}

/// Whether a fault that may not be that of its signal frame explains the instruction that was interrupted:
/// the kernel's record may be older, of a fault whose handler has returned.
bool fits_instruction(process::CoreProcess& process, const Fault& fault, const SignalOnStack& signal) {
  const FaultFrame frame(process, signal.interrupted.registers);
  const bool is_at_pc = signal.info.address == frame.pc();
  switch (signal.info.signal) {
  case sigsegv: return fault.access != Access::unknown && !is_permitted(frame.core(), fault);
  case sigbus: return fault.access != Access::unknown;
  case sigtrap: return fault.instruction.has_value();
  case sigfpe: {
    const auto operands = frame.operands_at(frame.pc());
    return operands.divisor ? division_faults(frame, operands) : is_at_pc;
  }
  case sigill: return is_at_pc || frame.operands_at(frame.pc()).is_undefined;
  default: return is_at_pc;
  }
}

/// The fault of a thread whose handler has blocked the signal, raised it, and returned: it died before the
/// same instruction again. Else a thread that sends itself a signal dies after a system call.
std::optional<SignalOnStack> fault_before_return(process::CoreProcess& process) {
  const process::Thread& thread = process.threads().front();
  const FaultFrame frame(process, thread.registers);
  const Core& core = frame.core();
  const auto& sent = core.signal_info();
  const auto& system_call = frame.abi().system_call;
  if (system_call.empty() || !core.has_permissions() || core.truncated() || !sent || sent->code > 0 ||
      sent->sender != core.pid() || frame.has_code(frame.pc() - system_call.size(), system_call))
    return std::nullopt;
  SignalOnStack signal{.from_instruction = true, .interrupted = thread.frame()};
  signal.info.signal = sent->signal;
  signal.info.has_sender = false;
  return find_fault(frame, signal.info) ? std::optional(signal) : std::nullopt;
}

} // namespace

std::optional<HandledFault> first_fault(process::CoreProcess& process,
                                        std::span<const SignalOnStack> handled) {
  const auto explain = [&](const SignalOnStack& signal) -> std::optional<HandledFault> {
    HandledFault fault{explain_fault(process, signal.info.signal, signal.info, signal.interrupted), signal};
    return signal.certain || fits_instruction(process, fault, signal) ? std::optional(std::move(fault))
                                                                      : std::nullopt;
  };
  for (const SignalOnStack& signal : handled | std::views::reverse)
    if (auto fault = explain(signal)) return fault;
  const auto signal = fault_before_return(process);
  return signal ? explain(*signal) : std::nullopt;
}

} // namespace sframe::crash
