// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process as a walk sees it: threads with their registers, and their memory. Cores are here, live
// processes in live_process.h.

#pragma once

#include "sframe/process/core_space.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/registers.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::process {

struct Thread {
  std::uint32_t tid = 0;
  std::int32_t signal = 0; ///< the signal being delivered, or 0
  std::string_view name;   ///< valid for the life of the ProcessState
  unwind::Registers registers;
  bool after_fault = false;        ///< as in FrameState
  unwind::HardwareShadow shadow{}; ///< as in FrameState; only in cores
  bool other_mode = false;         ///< as in FrameState

  /// The innermost frame, where a walk starts.
  unwind::FrameState frame() const { return {registers, true, after_fault, shadow, other_mode}; }
};

class ProcessState {
public:
  virtual ~ProcessState() = default;
  virtual std::uint32_t pid() const = 0;
  virtual std::int32_t signal() const = 0; ///< the signal that ended the process, or 0
  /// In a core, the first is the thread that died.
  virtual std::span<const Thread> threads() const = 0;
  virtual modules::ModuleSpace& space() = 0;
  /// The program's name, if known: the kernel keeps 15 bytes.
  virtual std::string_view name() const = 0;
  /// All modules, including those that no walk has used.
  virtual std::deque<modules::Module>& modules() = 0;
};

class CoreProcess final : public ProcessState {
public:
  /// `core` must outlive the object. Fails if the core's machine cannot be unwound.
  static Result<std::unique_ptr<CoreProcess>> create(const core::Core& core, modules::FileOptions files);

  std::uint32_t pid() const override { return space_.core().pid(); }
  std::int32_t signal() const override { return space_.core().signal(); }
  std::span<const Thread> threads() const override { return threads_; }
  CoreSpace& space() override { return space_; }
  std::string_view name() const override { return space_.core().process_name(); }
  std::deque<modules::Module>& modules() override { return space_.modules(); }

private:
  CoreProcess(const core::Core& core, modules::FileOptions files);

  CoreSpace space_;
  std::vector<Thread> threads_;
};

} // namespace sframe::process

#pragma GCC visibility pop
