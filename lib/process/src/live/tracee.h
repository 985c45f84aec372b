// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: ptrace(2) operations on one thread, and its reports. Only the thread that seized a tracee may use
// ptrace on it, and when that thread ends the kernel detaches its tracees. So all of this is called on a
// dedicated thread.

#pragma once

#include "live/tracing.h"
#include "sframe/abi.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <semaphore>
#include <thread>

namespace sframe::process::live {

/// Starts a thread with all signals blocked, so that the program's signals go to its own threads. Not
/// joinable if the system has no thread left.
std::thread start_quietly(std::function<void()> run);

/// Seizes a thread, which continues to run. True if the calling thread traces it already: after execve(2) the
/// thread has another number. False if it has ended meanwhile; fails if the kernel refuses.
Result<bool> seize(std::uint32_t pid, std::uint32_t tid, unsigned long options);

/// Waits for `done`. If it takes long, reaps threads of the process that have ended and are traced by this
/// program, and calls `reaped` for each: execve(2) waits for that, and PTRACE_SEIZE, which may be what is
/// waited for, waits for execve(2). Not to be called on the tracing thread.
void await_reaping(std::binary_semaphore& done, std::uint32_t pid,
                   const std::function<void(std::uint32_t tid)>& reaped);

/// Requests a seized thread to stop; waitpid(2) reports the stop. False if it has ended.
bool interrupt(std::uint32_t tid);

/// Detaches from a stopped thread and delivers `signal`, unless it is 0.
void detach(std::uint32_t tid, int signal);

/// The registers of a stopped thread; nothing if it was killed meanwhile.
std::optional<StoppedThread> read_thread(std::uint32_t tid, int signal, const AbiTraits& abi);

/// A stop reported by waitpid(2).
struct StopReport {
  int event;       ///< PTRACE_EVENT_*, or 0: a signal is about to be delivered
  int signal;      ///< to deliver when the thread is resumed, or 0
  bool group_stop; ///< a stop signal such as SIGSTOP has stopped the process
};
StopReport read_status(int status);

/// Waits for a stop that should come at once but may never come: a thread that waits uninterruptibly in the
/// kernel (a vfork() in progress, a dead network file system) does not stop.
class StopTimeout {
public:
  bool expired() const { return Clock::now() > deadline_; }
  /// True after so long a time that it is worth checking whether the thread still exists.
  bool is_overdue() const { return waits_ > short_waits; }
  /// Yields to other threads: briefly at first, later for 200 microseconds.
  void wait();

private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned short_waits = 50;
  Clock::time_point deadline_ = Clock::now() + std::chrono::seconds(1);
  unsigned waits_ = 0;
};

} // namespace sframe::process::live
