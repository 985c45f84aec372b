// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interrupted thread reports one of three stops: the requested one; a group stop, if a stop signal such
// as SIGSTOP had stopped the process, which detaching restores; a signal about to be delivered, which
// detaching with its number delivers.

#include "live/tracer.h"

#include "live/proc_files.h"
#include "live/tracee.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <sys/wait.h>

namespace sframe::process::live {

Result<Stop> Tracer::stop(std::optional<std::uint32_t> tid) {
  resume();
  // execve(2) ends all threads but one, which gets the leader's number; a process may execute several times.
  constexpr int most_tries = 20;
  stop_once(tid);
  for (int i = 1; vanished_ && i < most_tries && !list_threads(pid_).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop_once(tid);
  }
  return std::move(result_);
}

void Tracer::stop_once(std::optional<std::uint32_t> tid) {
  vanished_ = false;
  thread_ = start_quietly([this, tid] { run(tid); });
  if (!thread_.joinable()) {
    result_ = fail("cannot trace the process: cannot start a thread");
    return;
  }
  await_reaping(ready_, pid_, [](std::uint32_t) {});
  if (!result_) thread_.join();
}

void Tracer::resume() {
  if (!thread_.joinable()) return;
  release_.release();
  thread_.join();
}

void Tracer::run(std::optional<std::uint32_t> only) {
  stopped_.clear();
  result_ = Stop{};
  try {
    const auto stopped = stop_all(only);
    if (stopped) read_registers();
    if (!stopped)
      result_ = unexpected(stopped.error());
    else if (result_->threads.empty() && !result_->unstopped.empty())
      result_ = fail("no thread can be walked: " + explain_unstopped(pid_, result_->unstopped.front()));
    else if (vanished_ = result_->threads.empty(); vanished_)
      result_ = unexpected(explain_nothing_stopped(pid_, only));
  } catch (const std::bad_alloc&) { // on this thread it would end the program
    result_ = unexpected(Problem{"out of memory", {}, {}});
  }
  const bool wait = result_.has_value(); // once it is set, it belongs to the other thread
  ready_.release();
  if (wait) release_.acquire();
  // Threads that are not stopped cannot be detached; the kernel detaches them when this thread ends.
  for (const Tracee& tracee : stopped_) detach(tracee.tid, tracee.signal);
}

/// Running threads may start threads: the list is read until it has no new ones.
Result<void> Tracer::stop_all(std::optional<std::uint32_t> only) {
  std::set<std::uint32_t> known;
  for (;;) {
    std::vector<std::uint32_t> added = list_threads(pid_);
    if (only) std::erase_if(added, [&](std::uint32_t tid) { return tid != *only; });
    if (only && added.empty()) return fail("no thread " + std::to_string(*only));
    std::erase_if(added, [&](std::uint32_t tid) { return !known.insert(tid).second; });
    if (added.empty()) break;
    if (auto stopped = stop_these(added); !stopped) return stopped;
  }
  std::ranges::sort(stopped_, {}, &Tracee::tid);
  return {};
}

/// All are interrupted before the first is waited for, and all share one time limit: a process with many
/// uninterruptible threads is held no longer than one with one.
Result<void> Tracer::stop_these(const std::vector<std::uint32_t>& tids) {
  std::vector<std::uint32_t> seized;
  for (const std::uint32_t tid : tids) {
    const auto done = seize(pid_, tid, 0);
    if (!done) return unexpected(done.error());
    if (*done && interrupt(tid)) seized.push_back(tid);
  }
  StopTimeout timeout;
  for (const std::uint32_t tid : seized) await(tid, timeout);
  return {};
}

/// Waits for the stop of a thread; after the time limit, polls it once.
void Tracer::await(std::uint32_t tid, StopTimeout& timeout) {
  for (;; timeout.wait()) {
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(tid), &status, __WALL | WNOHANG);
    if (got < 0 && errno != EINTR) return; // it has ended
    if (got > 0) {
      if (WIFSTOPPED(status)) stopped_.push_back({tid, read_status(status).signal});
      return;
    }
    if (timeout.expired()) break;
    if (timeout.is_overdue()) (void)interrupt(tid); // the kernel may forget a request in execve(2)
  }
  result_->unstopped.push_back(tid);
}

void Tracer::read_registers() {
  result_->threads.reserve(stopped_.size());
  for (const Tracee& tracee : stopped_)
    if (const auto thread = read_thread(tracee.tid, tracee.signal, abi_)) result_->threads.push_back(*thread);
}

} // namespace sframe::process::live
