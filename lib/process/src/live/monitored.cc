// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel reports in any order: a new thread may be reported before the clone() that made it, and may
// even have ended by then. So the first report of a thread adds it.

#include "live/monitored.h"

#include "live/proc_files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sframe::process::live {

using Kind = DebugEvent::Kind;

const unsigned long monitor_options =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

namespace {

std::uint32_t event_message(std::uint32_t tid) {
  unsigned long message = 0;
  ::ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
  return static_cast<std::uint32_t>(message);
}

} // namespace

/// The kernel seizes threads that a seized thread starts; the list is read until it has no others.
Result<void> Monitored::seize_all() {
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t tid : list_threads(pid_)) {
      if (has(tid)) continue;
      const auto seized = seize(pid_, tid, monitor_options);
      if (!seized) return unexpected(seized.error());
      if (!*seized) continue;
      tracees_.try_emplace(tid);
      again = true;
    }
  }
  return gone() ? unexpected(explain_refusal(pid_, ESRCH)) : Result<void>();
}

void Monitored::start_traced() {
  tracees_.try_emplace(pid_);
}

bool Monitored::owns(std::uint32_t tid) const {
  return ::syscall(SYS_tgkill, pid_, tid, 0) == 0 || errno == EPERM;
}

/// A thread that has just started.
Monitored::Tracee& Monitored::add(std::uint32_t tid) {
  const auto [at, added] = tracees_.try_emplace(tid);
  if (added) {
    at->second.paused = all_paused_;
    at->second.held = all_held_;
    events_.push({.kind = Kind::thread_started, .pid = pid_, .tid = tid});
  }
  return at->second;
}

void Monitored::report(std::uint32_t tid, int status) {
  if (!WIFSTOPPED(status)) return ended(tid, status);
  const StopReport stop = read_status(status);
  Tracee& tracee = add(tid);
  tracee.stopped = true;
  tracee.group_stop = stop.group_stop;
  tracee.signal = stop.signal;
  react(tid, stop);
  settle(tid);
}

void Monitored::ended(std::uint32_t tid, int status) {
  const bool known = tracees_.erase(tid);
  if (tid != pid_) {
    if (known) events_.push({.kind = Kind::thread_ended, .pid = pid_, .tid = tid});
    return;
  }
  tracees_.clear(); // the leader's end is reported when no other thread is left
  events_.push({.kind = Kind::exited,
                .pid = pid_,
                .tid = tid,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0});
}

void Monitored::react(std::uint32_t tid, const StopReport& stop) {
  if (stop.event == 0)
    events_.push({.kind = Kind::signal, .pid = pid_, .tid = tid, .signal = stop.signal});
  else if (stop.event == PTRACE_EVENT_CLONE)
    cloned(tid, event_message(tid));
  else if (stop.event == PTRACE_EVENT_FORK || stop.event == PTRACE_EVENT_VFORK)
    events_.push({.kind = Kind::forked, .pid = pid_, .tid = tid, .child = event_message(tid)});
  else if (stop.event == PTRACE_EVENT_EXEC)
    executed(event_message(tid));
}

/// clone(2) makes threads or, depending on its flags, processes. If the thread is gone, its report came
/// first.
void Monitored::cloned(std::uint32_t parent, std::uint32_t child) {
  if (owns(child))
    add(child);
  else if (::kill(static_cast<pid_t>(child), 0) == 0 || errno == EPERM)
    events_.push({.kind = Kind::forked, .pid = pid_, .tid = parent, .child = child});
}

/// exec() ends all other threads; the calling thread gets the leader's number.
void Monitored::executed(std::uint32_t former) {
  for (auto at = tracees_.begin(); at != tracees_.end();) {
    const std::uint32_t tid = at->first;
    at = tid == pid_ ? std::next(at) : tracees_.erase(at);
    if (tid != pid_) events_.push({.kind = Kind::thread_ended, .pid = pid_, .tid = tid});
  }
  events_.push({.kind = Kind::exec, .pid = pid_, .tid = former});
}

/// Resumes a stopped thread unless it must stay stopped.
void Monitored::settle(std::uint32_t tid) {
  const auto at = tracees_.find(tid);
  if (at == tracees_.end() || !at->second.stopped) return;
  Tracee& tracee = at->second;
  if (leaving_) {
    detach(tid, tracee.signal);
    tracees_.erase(at);
    return;
  }
  if (tracee.paused || tracee.held) return;
  // PTRACE_LISTEN leaves a thread in its group stop, and reports the end of the stop by SIGCONT.
  ::ptrace(tracee.group_stop ? PTRACE_LISTEN : PTRACE_CONT, tid, 0, tracee.signal);
  tracee.stopped = false;
}

void Monitored::settle_all() {
  std::vector<std::uint32_t> tids;
  for (const auto& [tid, tracee] : tracees_) tids.push_back(tid);
  for (const std::uint32_t tid : tids) settle(tid);
}

bool Monitored::want(bool Tracee::*why, bool& all, std::optional<std::uint32_t> only) {
  if (only && !has(*only)) return false;
  if (!only) all = true;
  for (auto& [tid, tracee] : tracees_) {
    if (only && tid != *only) continue;
    tracee.*why = true;
    if (!tracee.stopped) interrupt(tid);
  }
  return true;
}

bool Monitored::pause(std::optional<std::uint32_t> tid) {
  return want(&Tracee::paused, all_paused_, tid);
}

bool Monitored::hold(std::optional<std::uint32_t> tid) {
  return want(&Tracee::held, all_held_, tid);
}

bool Monitored::unpause(std::optional<std::uint32_t> only) {
  bool any = false;
  for (auto& [tid, tracee] : tracees_)
    if (!only || tid == *only) any |= std::exchange(tracee.paused, false);
  if (any) all_paused_ = false;
  settle_all();
  return any;
}

void Monitored::release() {
  all_held_ = false;
  for (auto& [tid, tracee] : tracees_) tracee.held = false;
  settle_all();
}

void Monitored::leave() {
  leaving_ = true;
  for (const auto& [tid, tracee] : tracees_)
    if (!tracee.stopped) interrupt(tid);
  settle_all();
}

bool Monitored::all_stopped(bool check_alive) const {
  return std::ranges::all_of(tracees_, [&](const auto& entry) {
    const auto& [tid, tracee] = entry;
    const bool wanted = tracee.paused || tracee.held;
    // A leader that ends before its threads is reported only after the last of them has ended.
    return !wanted || tracee.stopped || (check_alive && has_ended(pid_, tid));
  });
}

Stop Monitored::read_held(const AbiTraits& abi) const {
  Stop stop;
  for (const auto& [tid, tracee] : tracees_) {
    if (!tracee.held) continue;
    if (!tracee.stopped) {
      if (!has_ended(pid_, tid)) stop.unstopped.push_back(tid);
    } else if (const auto thread = read_thread(tid, tracee.signal, abi)) {
      stop.threads.push_back(*thread);
    }
  }
  std::ranges::sort(stop.threads, {}, &StoppedThread::tid);
  return stop;
}

} // namespace sframe::process::live
