// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/crash/crash.h"

#include "sframe/crash/abort_message.h"

namespace sframe::crash {

namespace {

/// Who sent the signal, where the kernel knows it: of kill(), sigqueue() and raise().
void add_sender(const core::SignalInfo& info, std::uint32_t pid, Crash& crash) {
  if (!info.has_sender ||
      (info.code != core::si_user && info.code != core::si_queue && info.code != core::si_tkill))
    return;
  crash.sender = {info.sender, info.sender_user};
  if (info.sender == pid)
    crash.meaning =
        info.code == core::si_tkill ? "raised by the process itself" : "sent by the process to itself";
  else
    crash.meaning =
        "sent by process " + std::to_string(info.sender) + ", user " + std::to_string(info.sender_user);
}

} // namespace

Crash explain_crash(process::CoreProcess& process, std::span<const SignalOnStack> handled) {
  Crash crash;
  if (process.threads().empty() || process.signal() == 0) return crash;
  const process::Thread& thread = process.threads().front();
  const core::Core& core = process.space().core();
  static_cast<Fault&>(crash) = explain_fault(process, process.signal(), core.signal_info(), thread.frame());
  crash.tid = thread.tid;
  if (core.signal_info()) add_sender(*core.signal_info(), core.pid(), crash);
  if (process.signal() == core::sigabrt) crash.message = abort_message(process);
  crash.first_fault = first_fault(process, handled);
  return crash;
}

} // namespace sframe::crash
