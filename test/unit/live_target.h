// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running live_target.c for a test to trace, do things with, and be rid of at the test's end.

#pragma once

#include "sframe/process/live_process.h"
#include "sframe/unwind/walker.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sframe::test {

class Target {
public:
  /// Returns when it has two threads that answer.
  Target();
  /// Kills it.
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  /// The second thread.
  std::uint32_t worker() const;

  /// Has it do what the letter stands for in live_target.c; true when it says that it is done.
  bool act(char letter);
  /// The same without waiting; the answer is waited for by done().
  void ask(char letter);
  bool done();
  /// The same for the worker, which does nothing but answer. `milliseconds`: how long to wait for it.
  void ask_worker();
  bool worker_done(int milliseconds = patience);
  /// Where its known_word is.
  std::uint64_t known_word_address();
  void kill(int signal) const;

  /// The letter that /proc/PID/task/TID/status has for its state; 0 where it is gone.
  char state(std::uint32_t tid) const;
  /// Waits until it has that state; false where it does not come.
  bool comes_to(std::uint32_t tid, char state) const;
  std::vector<std::uint32_t> threads() const;
  /// No thread of it is traced.
  bool is_untraced() const;

private:
  static constexpr int patience = 20'000; ///< only a failing test waits that long

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, worker_in_ = -1, worker_out_ = -1;
};

/// The names of the functions on a stopped thread's stack, innermost first; "?" without one.
std::vector<std::string> stack_of(process::LiveProcess& process, std::uint32_t tid);

/// The pcs of all frames of all threads, by that walker.
std::vector<std::uint64_t> walk_all(process::LiveProcess& process, unwind::Walker& walker);

/// Stops the process, walks all its threads and lets it go. How many frames there were.
Result<std::size_t> sample(process::LiveProcess& process);

/// Whether this machine lets us trace our children at all.
bool can_trace();

/// Waits until `condition()`; false where that does not come.
bool eventually(const std::function<bool()>& condition);

/// For tests that need can_trace().
class LiveTest : public testing::Test {
protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "processes cannot be traced here";
  }
};

} // namespace sframe::test
