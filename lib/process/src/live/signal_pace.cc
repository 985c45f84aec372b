// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/signal_pace.h"

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sframe::process::live {

namespace {

/// The kernel keeps one of each but of real-time signals.
bool is_merged(int signal) {
  constexpr int first_real_time = 32;
  return signal < first_real_time;
}

/// Sent again and again: by a timer, or by another thread, as Go's runtime does. Others may be sent only
/// once, with a value, and at a time when they are not blocked.
bool is_repeated(const siginfo_t& info) {
  const bool has_interval_timer =
      info.si_signo == SIGALRM || info.si_signo == SIGVTALRM || info.si_signo == SIGPROF;
  return info.si_code == SI_TIMER || (info.si_code == SI_TKILL && is_merged(info.si_signo)) ||
         (info.si_code == SI_KERNEL && has_interval_timer);
}

/// Not raised by the instruction that was executed, and not one that stops processes.
bool is_asynchronous(const siginfo_t& info) {
  switch (info.si_signo) {
  case SIGSEGV:
  case SIGBUS:
  case SIGILL:
  case SIGFPE:
  case SIGTRAP:
  case SIGSYS: return info.si_code <= 0; // sent
  case SIGSTOP:
  case SIGTSTP:
  case SIGTTIN:
  case SIGTTOU:
  case SIGCONT: return false;
  default: return true;
  }
}

} // namespace

void SignalPace::announce(std::uint64_t pc, bool is_system_call, bool ends_handler) {
  if (std::exchange(pc_, pc) != pc) has_called_ = calls_; // else nothing was executed
  calls_ = is_system_call && !ends_handler;
  ++steps_;
  ++since_delivery_;
  if (ends_handler && std::exchange(in_handler_, false)) steps_ = 0;
}

bool SignalPace::arrived(siginfo_t& info, std::uint64_t pc) {
  if ((info.si_code == SI_TKILL || info.si_code == SI_USER) && info.si_pid == ::getpid()) {
    const auto sent = std::ranges::find(sent_, info.si_signo, &siginfo_t::si_signo);
    if (sent != sent_.end()) {
      info = *sent;
      sent_.erase(sent);
    }
  }
  if (!is_asynchronous(info)) return true;
  if (steps_ >= distance) recent_.clear();
  const bool is_again = !recent_.insert(info.si_signo).second;
  // Several that a system call has let through come one after the other: at the starts of handlers.
  const bool is_with_last = since_delivery_ <= 1;
  if (!is_again || !is_repeated(info) || is_with_last || (pc == pc_ ? has_called_ : calls_)) {
    in_handler_ = true;
    since_delivery_ = 0;
    return true;
  }
  const auto same = std::ranges::find(held_, info.si_signo, &siginfo_t::si_signo);
  if (same == held_.end() || !is_merged(info.si_signo)) held_.push_back(info);
  return false;
}

std::optional<siginfo_t> SignalPace::take_due(bool executes_program) {
  if (held_.empty() || (steps_ < distance && !executes_program)) return std::nullopt;
  const siginfo_t first = held_.front();
  held_.erase(held_.begin());
  in_handler_ = true;
  return first;
}

void SignalPace::send_all(std::uint32_t pid, std::uint32_t tid) {
  for (const siginfo_t& info : held_)
    // Timers send to the process: another thread may take it.
    if (info.si_code == SI_TKILL ? ::syscall(SYS_tgkill, pid, tid, info.si_signo) == 0
                                 : ::kill(static_cast<pid_t>(pid), info.si_signo) == 0)
      sent_.push_back(info);
  held_.clear();
}

} // namespace sframe::process::live
