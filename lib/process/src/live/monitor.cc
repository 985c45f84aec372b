// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// waitpid(2) cannot wait for both reports and commands, so a command interrupts it by a signal. A signal
// just before the wait begins would be missed, so it is sent again until the command is taken.

#include "live/monitor.h"

#include "live/proc_files.h"

#include <cerrno>
#include <csignal>
#include <semaphore>
#include <sys/wait.h>
#include <utility>

namespace sframe::process::live {

namespace {

/// Installs an empty handler for an unused signal; 0 if there is none.
int choose_wake_signal() {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = [](int) {}; // no SA_RESTART: the wait must end
    if (::sigaction(signal, &action, nullptr) == 0) return signal;
  }
  return 0;
}

int wake_signal() {
  static const int chosen = choose_wake_signal();
  return chosen;
}

} // namespace

struct Monitor::Command {
  Step step;
  StopTimeout timeout{};
  std::binary_semaphore taken{0}, done{0};
};

Monitor::Monitor(bool follow_forks) : follow_forks_(follow_forks) {}

Monitor::~Monitor() {
  close();
}

Result<void> Monitor::start() {
  if (events_.fd() < 0) return fail("no file descriptor left for events");
  if (wake_signal() == 0) return fail("all real-time signals are in use");
  thread_ = start_quietly([this] { run(); });
  if (!thread_.joinable()) return fail("cannot start a thread");
  return {};
}

void Monitor::close() {
  if (!thread_.joinable()) return;
  perform([this](const StopTimeout& timeout) {
    closing_ = true;
    for (auto at = processes_.begin(); at != processes_.end();) leave((at++)->second);
    return processes_.empty() || timeout.expired();
  });
  thread_.join();
}

/// Ends the tracing thread's wait. Call it with the lock held: that thread sets closed_ under the lock
/// before it ends, and a thread that has ended may have been joined.
void Monitor::wake() {
  const std::lock_guard lock(mutex_);
  if (!closed_) ::pthread_kill(thread_.native_handle(), wake_signal());
}

/// Returns when the tracing thread has executed the step; at once if that thread has ended.
/// `pid`: the process whose threads the step seizes, or 0.
void Monitor::perform(Step step, std::uint32_t pid) {
  const auto command = std::make_shared<Command>(std::move(step));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    commands_.push_back(command);
  }
  arrived_.notify_one();
  do wake();
  while (!command->taken.try_acquire_for(std::chrono::milliseconds(1)));
  if (!pid) return command->done.acquire();
  await_reaping(command->done, pid, [this](std::uint32_t tid) {
    const std::lock_guard lock(mutex_);
    reaped_.push_back(tid);
  });
}

/// Executes an action on a monitored process without waiting for threads.
Result<void> Monitor::perform_on(Attachment which, std::function<Result<void>(Monitored&)> action) {
  Result<void> result = fail("process is not monitored");
  perform([&](const StopTimeout&) {
    if (Monitored* process = find(which)) result = action(*process);
    return true;
  });
  return result;
}

/// `begin` requests threads to stop, and is false if there are none; `finish` gets whether they have
/// stopped.
Result<void> Monitor::with_stopped_threads(Attachment which, std::function<bool(Monitored&)> begin,
                                           std::function<Result<void>(Monitored&, bool in_time)> finish) {
  Result<void> result = fail("process is not monitored");
  bool begun = false;
  perform([&](const StopTimeout& timeout) {
    Monitored* process = find(which);
    if (!process) {
      if (begun) result = fail("process has exited");
      return true;
    }
    if (!begun && !begin(*process)) {
      result = fail("no such thread");
      return true;
    }
    begun = true;
    const bool in_time = process->all_stopped(timeout.is_overdue());
    if (!in_time && !timeout.expired()) return false;
    result = finish(*process, in_time);
    return true;
  });
  return result;
}

bool Monitor::follows(std::uint32_t pid) {
  return perform_on({pid}, [](Monitored&) { return Result<void>(); }).has_value();
}

Result<std::uint64_t> Monitor::attach(std::uint32_t pid) {
  Result<std::uint64_t> result = fail("the monitor is closed");
  perform(
      [&](const StopTimeout&) {
        const auto [at, added] = processes_.try_emplace(pid, pid, events_);
        count_ = processes_.size();
        Monitored& process = at->second;
        if (process.session || process.leaving()) {
          result = fail("process is already monitored");
          return true;
        }
        result = process.session = ++sessions_;
        if (const auto seized = added ? process.seize_all() : Result<void>(); !seized) {
          result = unexpected(seized.error());
          leave(process);
        }
        return true;
      },
      pid);
  return result;
}

Result<void> Monitor::detach(Attachment which) {
  Result<void> result = fail("process is not monitored");
  perform([&](const StopTimeout& timeout) {
    if (Monitored* process = find(which)) {
      result = {};
      leave(*process);
    }
    // A thread that stops too late is resumed then.
    if (result && processes_.contains(which.pid) && !timeout.expired()) return false;
    if (result) events_.push({.kind = DebugEvent::Kind::detached, .pid = which.pid, .tid = which.pid});
    return true;
  });
  return result;
}

Result<void> Monitor::pause(std::uint32_t pid, std::optional<std::uint32_t> tid) {
  return with_stopped_threads(
      {pid}, [tid](Monitored& process) { return process.pause(tid); },
      [tid](Monitored& process, bool in_time) {
        if (in_time) return Result<void>();
        process.unpause(tid);
        return Result<void>(fail("a thread did not stop in time"));
      });
}

Result<void> Monitor::resume(std::uint32_t pid, std::optional<std::uint32_t> tid) {
  return perform_on({pid}, [tid](Monitored& process) {
    return process.unpause(tid) ? Result<void>() : fail("no such paused thread");
  });
}

Result<Stop> Monitor::hold(Attachment which, std::optional<std::uint32_t> tid, const AbiTraits& abi) {
  Stop stop;
  const auto held = with_stopped_threads(
      which, [tid](Monitored& process) { return process.hold(tid); },
      [&](Monitored& process, bool) {
        stop = process.read_held(abi);
        if (!stop.threads.empty()) return Result<void>();
        process.release();
        return Result<void>(unexpected(explain_nothing_stopped(which.pid, tid)));
      });
  if (!held) return unexpected(held.error());
  return stop;
}

void Monitor::release(Attachment which) {
  static_cast<void>(perform_on(which, [](Monitored& process) {
    process.release();
    return Result<void>();
  }));
}

void Monitor::run() {
  sigset_t wake;
  sigemptyset(&wake);
  sigaddset(&wake, wake_signal());
  pthread_sigmask(SIG_UNBLOCK, &wake, nullptr);
  while (take_commands()) {
    std::erase_if(active_, [](const std::shared_ptr<Command>& command) {
      const bool done = command->step(command->timeout);
      if (done) command->done.release();
      return done;
    });
    if (!closing_ || !active_.empty()) reap();
  }
}

/// False if there will be no more.
bool Monitor::take_commands() {
  const std::lock_guard lock(mutex_);
  closed_ = closing_ && commands_.empty() && active_.empty();
  for (const std::shared_ptr<Command>& command : commands_) {
    active_.push_back(command);
    command->taken.release();
  }
  commands_.clear();
  return !closed_;
}

/// Takes reports from the kernel, but a limited number, so that commands get their turn. If there is none,
/// waits: for long only if no command is waiting.
void Monitor::reap() {
  constexpr int most = 256;
  const bool may_wait = active_.empty();
  for (const std::uint32_t tid : take_reaped()) report(tid, 0);
  for (int count = 0; count < most; ++count) {
    int status = 0;
    const int wait = count == 0 && may_wait ? 0 : WNOHANG;
    const pid_t tid = ::waitpid(-1, &status, __WALL | __WNOTHREAD | wait);
    if (tid > 0) {
      report(static_cast<std::uint32_t>(tid), status);
      continue;
    }
    if (count) return;
    if (!may_wait) return active_.front()->timeout.wait();
    if (errno != ECHILD) return;
    std::unique_lock lock(mutex_);
    return arrived_.wait(lock, [this] { return !commands_.empty(); });
  }
}

/// Threads that another thread has reaped.
std::vector<std::uint32_t> Monitor::take_reaped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reaped_, {});
}

void Monitor::report(std::uint32_t tid, int status) {
  Monitored* process = owner_of(tid);
  if (!process && WIFSTOPPED(status)) process = adopt(tid);
  if (process) {
    process->report(tid, status);
    drop_if_gone(process->pid());
  } else if (WIFSTOPPED(status)) {
    live::detach(tid, read_status(status).signal);
  }
}

Monitored* Monitor::find(Attachment which) {
  const auto at = processes_.find(which.pid);
  if (at == processes_.end() || at->second.leaving()) return nullptr;
  return !which.session || which.session == at->second.session ? &at->second : nullptr;
}

Monitored* Monitor::owner_of(std::uint32_t tid) {
  for (auto& [pid, process] : processes_)
    if (process.has(tid)) return &process;
  return nullptr;
}

/// A new thread of a monitored process, or a child, which is detached if it is not to be followed.
Monitored* Monitor::adopt(std::uint32_t tid) {
  for (auto& [pid, process] : processes_)
    if (process.owns(tid)) return &process;
  if (!follow_forks_ || closing_) return nullptr;
  Monitored& child = processes_.try_emplace(tid, tid, events_).first->second;
  count_ = processes_.size();
  child.start_traced();
  return &child;
}

void Monitor::leave(Monitored& process) {
  process.leave();
  drop_if_gone(process.pid());
}

void Monitor::drop_if_gone(std::uint32_t pid) {
  const auto at = processes_.find(pid);
  if (at == processes_.end() || !at->second.gone()) return;
  processes_.erase(at);
  count_ = processes_.size();
}

} // namespace sframe::process::live
