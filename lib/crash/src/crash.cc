// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/crash/crash.h"

#include "core_text.h"

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

/// What glibc said when it aborted: a failed assertion, a damaged heap. It keeps its last words in memory:
/// __abort_msg points to a size (4 bytes) and the text (sysdeps/posix/libc_fatal.c).
std::string abort_message(process::CoreProcess& process) {
  const core::Core& core = process.space().core();
  for (modules::Module& module : process.modules()) {
    const bool may_have =
        module.info().main || module.name().starts_with("libc.so") || module.name().starts_with("libc-2.");
    const auto variable = may_have ? module.symbols().find_definition("__abort_msg") : std::nullopt;
    const auto pointer = variable ? core.read_word(*variable) : std::nullopt;
    if (!pointer || *pointer == 0) continue;
    constexpr std::size_t longest = 4096;
    std::string message = string_at(core, *pointer + 4, longest).value_or("");
    while (message.ends_with('\n')) message.pop_back();
    return message;
  }
  return {};
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
