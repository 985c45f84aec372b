// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a process that stays traced, as the tracing thread sees it, which alone may use this. Each thread
// is wanted to run or to stand; what is reported of it is answered at once, so that it goes on unless it is
// wanted to stand.

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

  /// Seizes all threads. Where it fails, some may be seized.
  Result<void> seize_all();
  /// The process began its life traced, by a fork() of a monitored one.
  void start_traced();

  bool has(std::uint32_t tid) const { return tracees_.contains(tid); }
  /// Whether a thread that is not known yet is one of this process.
  bool owns(std::uint32_t tid) const;
  /// Takes what waitpid(2) told of one of its threads, and lets that go on if it is not wanted to stand.
  void report(std::uint32_t tid, int status);

  /// Two reasons to stand: until somebody resumes it; for a walk. False where there is no such thread.
  bool pause(std::optional<std::uint32_t> tid);
  bool hold(std::optional<std::uint32_t> tid);
  /// Lets go on what was paused, all or one; false where nothing was.
  bool unpause(std::optional<std::uint32_t> tid);
  /// Ends hold().
  void release();
  /// Detaches from each thread as soon as it stands: running ones cannot be detached.
  void leave();

  /// Whether all threads that are wanted to stand do; with `doubt`, or have ended without having said so yet.
  bool standing(bool doubt) const;
  /// The threads that hold() wants, with their registers.
  Stop read_held(const AbiTraits& abi) const;

  bool leaving() const { return leaving_; }
  /// Nothing is traced any more: it has ended, or all threads are detached.
  bool gone() const { return tracees_.empty(); }

  std::uint64_t session = 0; ///< of the LiveProcess that attach() gave for it; 0: there is none

private:
  struct Tracee {
    bool standing = false;
    bool group_stop = false; ///< while standing: SIGSTOP or its like has stopped it
    int signal = 0;          ///< while standing: to deliver when it goes on
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

/// The options that make threads report what Monitored reacts to.
extern const unsigned long monitor_options;

} // namespace sframe::process::live
