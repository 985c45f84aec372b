// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program of this machine one instruction at a time (ptrace(2), PTRACE_SINGLESTEP), with all threads
// and child processes that it starts. An instruction costs some microseconds and four system calls.
//
// The program has the standard input and output of the caller. Its addresses are not randomised, if the
// system permits. If the caller ends, the kernel kills the program.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/problem.h"
#include "sframe/unwind/registers.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::process {

/// Receives what happens. Threads are named by their tid, processes by their pid, which is the tid of their
/// first thread. All functions are called on the thread that called step_program(); the thread of the program
/// that they are about is stopped meanwhile.
class StepObserver {
public:
  virtual ~StepObserver() = default;

  /// The program starts, or a process has executed another one (execve): its threads are gone, and `pid` is
  /// the only one.
  virtual void program(std::uint32_t pid, const AbiTraits& abi) = 0;
  /// A process executes a program that cannot be followed, as for another machine. It runs on.
  virtual void lost(std::uint32_t pid, const std::string& why) = 0;
  /// Thread `parent` has made a thread, or, if `pid` is not the process of `parent`, a process.
  virtual void thread(std::uint32_t parent, std::uint32_t pid, std::uint32_t tid) = 0;
  /// The thread is about to execute the instruction at now.pc. Also called twice for one instruction, if it
  /// did nothing the first time. False: the program runs on, and is not followed any more.
  virtual bool step(std::uint32_t tid, const unwind::Registers& now) = 0;
  /// The signal is about to be delivered to the thread, which has executed what was announced, or nothing.
  /// The next step() is the first instruction of the handler, if there is one.
  virtual void signal(std::uint32_t tid, int number, const unwind::Registers& now) = 0;
  /// The thread has ended.
  virtual void ended(std::uint32_t tid) = 0;
};

/// Runs the program `command[0]`, looked up in PATH, with these arguments. Returns its status, as waitpid(2)
/// reports it, when it and all its descendants that were followed have ended. Fails if it cannot be started,
/// is not for this machine, or may not be traced. The caller must have no other child process.
Result<int> step_program(const std::vector<std::string>& command, StepObserver& observer);

} // namespace sframe::process

#pragma GCC visibility pop
