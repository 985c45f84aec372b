// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/core/signals.h"

#include "sframe/bytes.h"

#include <iterator>

namespace sframe::core {

std::optional<SignalInfo> decode_signal_info(std::span<const std::byte> bytes, ByteOrder order) {
  if (bytes.size() < 24) return std::nullopt;
  return SignalInfo{static_cast<std::int32_t>(load<std::uint32_t>(bytes.data(), order)),
                    static_cast<std::int32_t>(load<std::uint32_t>(bytes.data() + 8, order)),
                    load<std::uint64_t>(bytes.data() + 16, order),
                    load<std::uint32_t>(bytes.data() + 16, order),
                    load<std::uint32_t>(bytes.data() + 20, order),
                    load_at<std::uint32_t>(bytes, 24, order).value_or(0)};
}

std::string signal_name(std::int32_t signal) {
  static constexpr const char* names[] = {
      nullptr,     "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
      "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
      "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
      "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
  };
  if (signal > 0 && signal < static_cast<std::int32_t>(std::size(names))) return names[signal];
  return "signal " + std::to_string(signal);
}

SignalCode signal_code(std::int32_t signal, std::int32_t code) {
  static constexpr SignalCode ill[] = {
      {"ILL_ILLOPC", "illegal opcode"},          {"ILL_ILLOPN", "illegal operand"},
      {"ILL_ILLADR", "illegal addressing mode"}, {"ILL_ILLTRP", "illegal trap"},
      {"ILL_PRVOPC", "privileged opcode"},       {"ILL_PRVREG", "privileged register"},
      {"ILL_COPROC", "coprocessor error"},       {"ILL_BADSTK", "internal stack error"}};
  static constexpr SignalCode trap[] = {
      {"TRAP_BRKPT", "breakpoint"}, {"TRAP_TRACE", "single step"},
      {"TRAP_BRANCH", "branch"},    {"TRAP_HWBKPT", "hardware breakpoint or watchpoint"},
      {"TRAP_UNK", "trap"},         {"TRAP_PERF", "perf event"}};
  static constexpr SignalCode bus[] = {
      {"BUS_ADRALN", "misaligned address"},
      {"BUS_ADRERR", "no memory at the address, or the file mapped there is too short"},
      {"BUS_OBJERR", "hardware error of the object"},
      {"BUS_MCEERR_AR", "hardware memory error"},
      {"BUS_MCEERR_AO", "hardware memory error, not yet used"}};
  static constexpr SignalCode fpe[] = {
      {"FPE_INTDIV", "integer division by zero"},         {"FPE_INTOVF", "integer overflow"},
      {"FPE_FLTDIV", "floating-point division by zero"},  {"FPE_FLTOVF", "floating-point overflow"},
      {"FPE_FLTUND", "floating-point underflow"},         {"FPE_FLTRES", "inexact floating-point result"},
      {"FPE_FLTINV", "invalid floating-point operation"}, {"FPE_FLTSUB", "subscript out of range"}};
  static constexpr SignalCode segv[] = {{"SEGV_MAPERR", "not mapped"},
                                        {"SEGV_ACCERR", "not permitted"},
                                        {"SEGV_BNDERR", "out of bounds"},
                                        {"SEGV_PKUERR", "refused by a protection key"},
                                        {"SEGV_ACCADI", "ADI is not enabled"},
                                        {"SEGV_ADIDERR", "ADI tag mismatch"},
                                        {"SEGV_ADIPERR", "ADI tag mismatch"},
                                        {"SEGV_MTEAERR", "memory tag mismatch, reported later"},
                                        {"SEGV_MTESERR", "memory tag mismatch"},
                                        {"SEGV_CPERR", "control protection: the shadow stack differs"}};
  static constexpr SignalCode sys[] = {{"SYS_SECCOMP", "system call refused by seccomp"},
                                       {"SYS_USER_DISPATCH", "system call dispatched to the program"}};
  const auto find = [&](const auto& codes) {
    return code <= static_cast<std::int32_t>(std::size(codes)) ? codes[code - 1] : SignalCode();
  };
  switch (code) {
  case si_user: return {"SI_USER", "sent by kill"};
  case si_kernel:
    return {"SI_KERNEL", signal == sigxcpu ? "processor time limit exceeded" : "sent by the kernel"};
  case si_queue: return {"SI_QUEUE", "sent by sigqueue"};
  case si_timer: return {"SI_TIMER", "a timer expired"};
  case si_mesgq: return {"SI_MESGQ", "a message arrived in an empty queue"};
  case si_asyncio: return {"SI_ASYNCIO", "asynchronous input or output was completed"};
  case si_tkill: return {"SI_TKILL", "sent by tgkill, as raise() and abort() do"};
  default: break;
  }
  if (code < 0) return {};
  switch (signal) {
  case sigill: return find(ill);
  case sigtrap: return find(trap);
  case sigbus: return find(bus);
  case sigfpe: return find(fpe);
  case sigsegv: return find(segv);
  case sigsys: return find(sys);
  default: return {};
  }
}

} // namespace sframe::core
