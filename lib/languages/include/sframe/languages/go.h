// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goroutines, from the data of Go's runtime (src/runtime/runtime2.go): which there are, what they wait for,
// where their stacks are walked from. The places of the data are those in the program's symbol table and
// DWARF, so that it works for each version of Go; programs without them (`-ldflags=-s`, strip) have no
// goroutines here. The memory may be damaged: all loops are bounded, all reads charged to the budget.

#pragma once

#include "sframe/languages/thrown.h"
#include "sframe/modules/debug_info_cache.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/stepper_group.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::languages {

struct Goroutine {
  std::uint64_t id = 0;
  std::uint64_t address = 0; ///< of its runtime.g
  std::string_view status;   ///< "runnable", "running", "system call", "waiting" ...; static text
  std::string wait_reason;   ///< "chan receive"; empty if it does not wait
  std::uint64_t wait_since =
      0;                      ///< CLOCK_MONOTONIC in nanoseconds, if the garbage collector noticed it; else 0
  std::uint64_t start_pc = 0; ///< of its first function
  std::uint64_t creator_pc = 0; ///< the return address of the `go` statement; 0: none
  std::uint32_t tid = 0;        ///< the thread that runs it, or waits in a system call for it; 0: none
  std::uint32_t locked_tid = 0; ///< the thread that it is locked to (runtime.LockOSThread); 0: none
  /// What the runtime saved of its registers. Not valid if it has a thread: its frames are then the thread's.
  std::uint64_t pc = 0, sp = 0, fp = 0;
  bool pc_exact = true; ///< as in FrameState

  /// Where its stack is walked from.
  unwind::FrameState frame(const AbiTraits& abi) const;
};

class GoProgram {
public:
  /// nullptr if `main`, the executable, is not a Go program. Opens it. `space` and `main` must outlive the
  /// object; `cache` is used by this call only.
  static std::shared_ptr<GoProgram> open(modules::ModuleSpace& space, modules::Module* main,
                                         modules::DebugInfoCache& cache);
  ~GoProgram();
  GoProgram(const GoProgram&) = delete;
  GoProgram& operator=(const GoProgram&) = delete;

  /// "go1.19.8"; empty if unknown.
  const std::string& version() const;
  /// Why there is nothing about goroutines; empty if there is.
  const std::string& problem() const;

  /// All that have not ended, in the order of their creation, at most 1 Mi. Linear.
  std::vector<Goroutine> goroutines();

  /// The number of the goroutine that the thread runs, or runs the runtime for. Nothing if there is none.
  std::optional<std::uint64_t> goroutine_of(std::uint32_t tid);

  /// The goroutine that the thread runs, and its panics: what Go's runtime prints for them. Nothing if there
  /// are none.
  std::optional<Thrown> panic_of(std::uint32_t tid);

  /// Adds the stepper `go` to a group: where a thread is on its system stack on behalf of a goroutine, the
  /// caller is on the goroutine's stack. Exact. It keeps the program alive.
  static void add_stepper(const std::shared_ptr<GoProgram>& program, unwind::StepperGroup& steppers);

  /// Call this when the process has run.
  void forget_memory();

private:
  struct State;
  friend class GoStepper;
  explicit GoProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace sframe::languages
