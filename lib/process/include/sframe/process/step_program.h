// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program one instruction at a time, in one of two ways, which report to one interface:
//
// - of this machine, by ptrace(2), with all threads and child processes that it starts. An instruction costs
//   some microseconds and four system calls.
// - of another machine, in an emulator that serves gdb's remote protocol (QEMU's user mode: qemu-aarch64 -g).
//   Only the first thread of the first process is followed. An instruction costs two round trips.
//
// The program has the standard input and output of the caller. Its addresses are not randomised, if the
// system permits. If the caller ends, the kernel kills the program.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/problem.h"
#include "sframe/process/live_process.h"
#include "sframe/unwind/registers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::process {

/// The memory of a process that is stepped, as it is now: nothing is kept. The modules are those of files().
class SteppedSpace : public unwind::AddressSpace {
public:
  explicit SteppedSpace(std::unique_ptr<LiveSpace> files) : files_(std::move(files)) {}

  /// Its memory must not be used; it may be the emulator's.
  LiveSpace& files() { return *files_; }

  const AbiTraits& abi() const override { return files_->abi(); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    return files_->read_process(address, out);
  }
  bool is_code(std::uint64_t address) override { return files_->is_code(address); }
  std::uint64_t code_address_mask() override { return files_->code_address_mask(); }

  /// Adds the registers of the stopped thread that StepObserver::step() does not get, because they are seldom
  /// needed and have a cost of their own.
  virtual void add_registers([[maybe_unused]] unwind::Registers& registers) {}

private:
  std::unique_ptr<LiveSpace> files_;
};

/// What StepObserver::step() knows of the instruction.
struct StepAnswer {
  bool follow = true; ///< false: the program runs on, and is not followed any more
  /// It is a system call: its number.
  std::optional<std::int64_t> system_call = std::nullopt;
  bool ends_handler = false;       ///< the system call with which a signal handler returns
  std::uint64_t next = 0;          ///< the address after it
  bool traps = false;              ///< it raises a signal
  std::span<const std::byte> code; ///< 64 bytes from its address, or what there is; valid until the next step
};

/// Receives what happens. Threads are named by their tid, processes by their pid, which is the tid of their
/// first thread. All functions are called on the thread that called step_program(); the thread of the program
/// that they are about is stopped meanwhile.
class StepObserver {
public:
  virtual ~StepObserver() = default;

  /// The program starts, or a process has executed another one (execve): its threads are gone, and `pid` is
  /// the only one.
  virtual void program(std::uint32_t pid, std::unique_ptr<SteppedSpace> space) = 0;
  /// A process executes a program that cannot be followed, as for another machine. It runs on.
  virtual void lost(std::uint32_t pid, const std::string& why) = 0;
  /// Thread `parent` has made a thread, or, if there is a `space`, a process.
  virtual void thread(std::uint32_t parent, std::uint32_t tid, std::unique_ptr<SteppedSpace> space) = 0;
  /// Thread `parent` has made a thread or a process that is not followed.
  virtual void not_followed(std::uint32_t parent, bool is_process) = 0;
  /// The thread is about to execute the instruction at now.pc. Also called twice for one instruction, if it
  /// did nothing the first time.
  virtual StepAnswer step(std::uint32_t tid, const unwind::Registers& now) = 0;
  /// The signal is about to be delivered to the thread, which has executed what was announced, or nothing.
  /// The next step() is the first instruction of the handler, if there is one.
  virtual void signal(std::uint32_t tid, const unwind::Registers& now) = 0;
  /// The thread has ended.
  virtual void ended(std::uint32_t tid) = 0;
  /// Where stepping is to begin: addresses of a process that has executed a program, or mapped memory since
  /// the last call. Until one of them is reached, in any process, the program runs at its speed, and neither
  /// step() nor signal() is called; then all threads are stepped. An address at which nothing is mapped yet
  /// is tried again after the next call. nullopt, the answer by default: at once. Only asked by
  /// step_program().
  virtual std::optional<std::vector<std::uint64_t>> start_at([[maybe_unused]] std::uint32_t pid) {
    return std::nullopt;
  }
};

/// Runs the program `command[0]`, looked up in PATH, with these arguments. Returns its status, as waitpid(2)
/// reports it, when it and all its descendants that were followed have ended. Fails if it cannot be started,
/// is not for this machine, or may not be traced, or if StepObserver::start_at() has an answer on a machine
/// without support for it (s390x). The caller must have no other child process.
Result<int> step_program(const std::vector<std::string>& command, StepObserver& observer);

/// The same in `emulator`, which is looked up in PATH, too, and started as `EMULATOR -g SOCKET PROGRAM
/// ARGUMENTS`. Threads and processes that the program makes are reported by StepObserver::not_followed() and
/// run on. Also fails if what the emulator answers is no answer, or none comes in 30 seconds; it is killed
/// then. Linux only: the emulator's mappings are taken for those of the program, at equal addresses.
Result<int> step_emulated(const std::string& emulator, const std::vector<std::string>& command,
                          StepObserver& observer);

/// The emulator for a program: empty if it is for this machine, or not an ELF file; it may be a script. Fails
/// if there is no such program, or no emulator is known for its machine.
Result<std::string> find_emulator(const std::string& program);

} // namespace sframe::process

#pragma GCC visibility pop
