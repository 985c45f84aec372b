// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs live_target.c as a process for a test to trace and control; it is killed at the test's end.

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
  /// Returns when it has two threads that respond.
  Target();
  /// Kills it.
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  /// The second thread.
  std::uint32_t worker() const;

  /// Requests the action of a letter (see live_target.c); true when it reports completion.
  bool act(char letter);
  /// The same without waiting; done() waits for the answer.
  void ask(char letter);
  bool done();
  /// The same for the worker, which only answers. `milliseconds`: how long to wait for it.
  void ask_worker();
  bool worker_done(int milliseconds = patience);
  /// The address of its known_word.
  std::uint64_t known_word_address();
  void kill(int signal) const;

  /// Its state letter in /proc/PID/task/TID/status; 0 if it has exited.
  char state(std::uint32_t tid) const;
  /// Waits until it has that state; false after a timeout.
  bool comes_to(std::uint32_t tid, char state) const;
  std::vector<std::uint32_t> threads() const;
  /// True if none of its threads is traced.
  bool is_untraced() const;

private:
  static constexpr int patience = 20'000; ///< only a failing test waits that long

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, worker_in_ = -1, worker_out_ = -1;
};

/// The names of the functions on a stopped thread's stack, innermost first; "?" if unknown.
std::vector<std::string> stack_of(process::LiveProcess& process, std::uint32_t tid);

/// The pcs of all frames of all threads, by that walker.
std::vector<std::uint64_t> walk_all(process::LiveProcess& process, unwind::Walker& walker);

/// Stops the process, walks all its threads and resumes it. Returns the number of frames.
Result<std::size_t> sample(process::LiveProcess& process);

/// True if this machine allows tracing our children.
bool can_trace();

/// Waits until `condition()` holds; false after a timeout.
bool eventually(const std::function<bool()>& condition);

/// For tests that need can_trace().
class LiveTest : public testing::Test {
protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "processes cannot be traced here";
  }
};

} // namespace sframe::test
