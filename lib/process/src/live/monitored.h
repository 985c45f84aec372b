// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a process that stays traced, for use by the tracing thread only. Each thread is to run or to
// stop. Its reports are answered at once: it continues unless it is to stop.

#pragma once

#include "live/event_queue.h"
#include "live/tracee.h"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace sframe::process::live {

class Monitored {
public:
  Monitored(std::uint32_t pid, EventQueue& events) : pid_(pid), events_(events) {}

  std::uint32_t pid() const { return pid_; }

  /// Seizes all threads. If it fails, some may be seized.
  Result<void> seize_all();
  /// The process was traced from its start, as a child of a monitored one.
  void start_traced();

  bool has(std::uint32_t tid) const { return tracees_.contains(tid); }
  /// Whether an unknown thread belongs to this process.
  bool owns(std::uint32_t tid) const;
  /// Handles a waitpid(2) report of one of its threads, and resumes the thread unless it is to stop.
  void report(std::uint32_t tid, int status);

  /// Two reasons to stop: until resumed by the user (pause), and for a walk (hold). False if there is no
  /// such thread.
  bool pause(std::optional<std::uint32_t> tid);
  bool hold(std::optional<std::uint32_t> tid);
  /// Resumes paused threads, all or one; false if none was paused.
  bool unpause(std::optional<std::uint32_t> tid);
  /// Ends hold().
  void release();
  /// Detaches from each thread as soon as it has stopped: running ones cannot be detached.
  void leave();

  /// Whether all threads that are to stop have done so. With `check_alive`, threads that have ended count as
  /// stopped, even before their end is reported.
  bool all_stopped(bool check_alive) const;
  /// The threads stopped by hold(), with their registers.
  Stop read_held(const AbiTraits& abi) const;

  bool leaving() const { return leaving_; }
  /// Nothing is traced any more: the process has ended, or all threads are detached.
  bool gone() const { return tracees_.empty(); }

  std::uint64_t session = 0; ///< session of the LiveProcess returned by attach(); 0: none

private:
  struct Tracee {
    bool stopped = false;
    bool group_stop = false; ///< if stopped: a stop signal such as SIGSTOP has stopped it
    int signal = 0;          ///< if stopped: to be delivered when it is resumed
    bool paused = false, held = false;
  };
  using Tracees = std::unordered_map<std::uint32_t, Tracee>;

  Tracee& add(std::uint32_t tid);
  void ended(std::uint32_t tid, int status);
  void react(std::uint32_t tid, const StopReport& stop);
  void cloned(std::uint32_t parent, std::uint32_t child);
  void executed(std::uint32_t former);
  void settle(std::uint32_t tid);
  void settle_all();
  bool want(bool Tracee::*why, bool& all, std::optional<std::uint32_t> tid);

  std::uint32_t pid_;
  EventQueue& events_;
  Tracees tracees_; ///< by tid
  bool all_paused_ = false, all_held_ = false, leaving_ = false;
};

/// The ptrace options that enable the reports handled by Monitored.
extern const unsigned long monitor_options;

} // namespace sframe::process::live
