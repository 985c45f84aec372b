// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: when a thread that is stepped gets a signal.
//
// Timers and other threads' clocks do not wait for a thread that is thousands of times slower than usual. A
// signal that is sent every 10 ms, such as those by which Go's runtime preempts goroutines, is there again
// before its handler has returned, and the interrupted code would not execute another instruction. So if such
// a signal comes again, the thread executes some instructions after the last handler before it gets it. What
// waits is kept here. A system call is never without it: a signal that the call has raised or that has
// interrupted it is delivered at once, and those that wait are sent again when the thread has entered it; or
// delivered before it, if it executes another program, which has no handler.

#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <set>
#include <sys/types.h>
#include <vector>

namespace sframe::process::live {

class SignalPace {
public:
  /// The thread is about to execute the instruction at `pc`. `ends_handler`: it is the system call with which
  /// a handler returns.
  void announce(std::uint64_t pc, bool is_system_call, bool ends_handler);

  /// A signal has arrived when the thread was at `pc`. True if it is to be delivered now, with this `info`,
  /// which may have been changed; else it is kept.
  bool arrived(siginfo_t& info, std::uint64_t pc);

  /// True if signals wait, and the instruction at `pc`, where the thread is, is a system call: the thread
  /// must be stopped when it has entered that, for send_all().
  bool must_stop_at_call(std::uint64_t pc) const { return !held_.empty() && calls_ && pc == pc_; }
  /// The signal that is to be delivered before the announced instruction, which perhaps executes a program.
  std::optional<siginfo_t> take_due(bool executes_program);
  /// Sends all that wait to the stopped thread, which gets them at the end of the system call that it has
  /// entered, or when it is not traced any more.
  void send_all(std::uint32_t pid, std::uint32_t tid);

private:
  /// Several times what a handler takes, and a part of a second.
  static constexpr std::uint64_t distance = 10'000;

  std::uint64_t pc_ = 0;
  bool calls_ = false;      ///< the announced instruction is a system call, other than a handler's return
  bool has_called_ = false; ///< so is the one before it
  bool in_handler_ = false; ///< of an asynchronous signal, as far as is known: longjmp() is not noticed
  std::uint64_t steps_ = distance;          ///< since such a handler has returned
  std::uint64_t since_delivery_ = distance; ///< steps, since arrived() has let one pass
  std::set<int> recent_; ///< asynchronous signals that have arrived, until so many steps are done
  std::vector<siginfo_t> held_;
  std::vector<siginfo_t> sent_; ///< again, as they were at first
};

} // namespace sframe::process::live
