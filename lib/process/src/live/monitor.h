// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the thread that traces the processes of a ProcessMonitor. It waits for reports of the kernel and
// answers them at once. Other threads send it commands and wait until these are done. A command that waits
// for threads to stop is retried after each report, so that it does not block other processes.

#pragma once

#include "live/event_queue.h"
#include "live/monitored.h"
#include "live/tracee.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sframe::process::live {

/// A process; with a session (attach()), valid only for that session.
struct Attachment {
  std::uint32_t pid;
  std::uint64_t session = 0;
};

class Monitor {
public:
  explicit Monitor(bool follow_forks);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Must be called once before the other functions.
  Result<void> start();
  /// Detaches from everything and ends the thread. All other functions fail afterwards.
  void close();

  EventQueue& events() { return events_; }
  /// False if no process is traced.
  bool has_processes() const { return count_ != 0; }
  /// True if the process is traced already as a child, so that attach() need not, and cannot, seize it.
  bool follows(std::uint32_t pid);

  /// Returns the new session.
  Result<std::uint64_t> attach(std::uint32_t pid);
  Result<void> detach(Attachment which);
  Result<void> pause(std::uint32_t pid, std::optional<std::uint32_t> tid);
  Result<void> resume(std::uint32_t pid, std::optional<std::uint32_t> tid);
  /// Stops threads for a walk, as Tracing::stop().
  Result<Stop> hold(Attachment which, std::optional<std::uint32_t> tid, const AbiTraits& abi);
  void release(Attachment which);

private:
  /// Called until it returns true: done.
  using Step = std::function<bool(const StopTimeout&)>;
  struct Command;

  void perform(Step step, std::uint32_t pid = 0);
  void wake();
  Result<void> perform_on(Attachment which, std::function<Result<void>(Monitored&)> action);
  Result<void> with_stopped_threads(Attachment which, std::function<bool(Monitored&)> begin,
                                    std::function<Result<void>(Monitored&, bool in_time)> finish);

  // The rest is for the tracing thread only.
  void run();
  bool take_commands();
  void reap();
  std::vector<std::uint32_t> take_reaped();
  void report(std::uint32_t tid, int status);
  Monitored* find(Attachment which);
  Monitored* owner_of(std::uint32_t tid);
  Monitored* adopt(std::uint32_t tid);
  void leave(Monitored& process);
  void drop_if_gone(std::uint32_t pid);

  const bool follow_forks_;
  EventQueue events_;
  std::thread thread_;

  std::mutex mutex_; ///< guards the next four
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<Command>> commands_; ///< not yet seen by the thread
  bool closed_ = false;
  std::vector<std::uint32_t> reaped_; ///< threads whose end was taken by another thread

  std::vector<std::shared_ptr<Command>> active_;
  std::map<std::uint32_t, Monitored> processes_; ///< by pid
  std::atomic<std::size_t> count_ = 0;           ///< number of processes_
  std::uint64_t sessions_ = 0;                   ///< number of sessions so far
  bool closing_ = false;
};

} // namespace sframe::process::live
