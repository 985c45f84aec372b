// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what ptrace(2) does to one thread, and how its answers read. Only the thread that seized a tracee
// may speak to it, and when that thread ends the kernel lets go what it traced; so all of this is called on a
// thread made for it.

#pragma once

#include "live/tracing.h"
#include "sframe/abi.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace sframe::process::live {

/// Starts a thread that takes no signal: those of the program are for its own threads. Not joinable where the
/// system has none left.
std::thread start_quietly(std::function<void()> run);

/// Seizes a thread, which runs on. False where it has ended meanwhile; fails where the kernel refuses.
Result<bool> seize(std::uint32_t pid, std::uint32_t tid, unsigned long options);

/// Asks a seized thread to stop; its stop is waited for. False where it has ended.
bool interrupt(std::uint32_t tid);

/// Lets go of a stopped thread; `signal` is delivered to it, if there is one.
void detach(std::uint32_t tid, int signal);

/// The registers of a stopped thread; nothing where it was killed meanwhile.
std::optional<StoppedThread> read_thread(std::uint32_t tid, int signal, const AbiTraits& abi);

/// A stop that waitpid(2) told of.
struct StopReport {
  int event;       ///< PTRACE_EVENT_*, or 0: a signal is about to be delivered
  int signal;      ///< to deliver when the thread goes on, or 0
  bool group_stop; ///< SIGSTOP or its like has stopped the process
};
StopReport read_status(int status);

/// Waiting for what should be there at once but may never come: a thread that waits in the kernel and cannot
/// be interrupted (a vfork() in progress, a dead network file system) does not stop.
class Patience {
public:
  bool lost() const { return Clock::now() > deadline_; }
  /// True when it has taken so long that it is worth asking whether the thread is still there.
  bool shaken() const { return naps_ > quick_naps; }
  /// Gives way to other threads: briefly at first, for 200 microseconds later.
  void nap();

private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned quick_naps = 50;
  Clock::time_point deadline_ = Clock::now() + std::chrono::seconds(1);
  unsigned naps_ = 0;
};

} // namespace sframe::process::live
