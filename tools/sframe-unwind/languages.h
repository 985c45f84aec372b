// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtimes of languages add to stacks (lib/languages): goroutines, Python frames, exceptions and
// panics; as far as --languages wants it.

#pragma once

#include "sframe/languages/go.h"
#include "sframe/languages/python.h"
#include "sframe/languages/thrown.h"
#include "sframe/modules/debug_info_cache.h"
#include "sframe/process/process_state.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::unwind_tool {

class Languages {
public:
  /// A runtime that the process has.
  struct Runtime {
    std::string_view name; ///< "Go", "Python"
    std::string version;   ///< may be empty
    std::string problem;   ///< why nothing can be read of it; empty if it can
  };

  /// `wanted`: names of languages, as in --languages; empty: all. `process` must outlive the object;
  /// `debug_info` is used by the constructor only.
  Languages(process::ProcessState& process, std::span<const std::string> wanted,
            modules::DebugInfoCache& debug_info);

  /// Adds the steppers between the stacks of a runtime.
  void add_steppers(unwind::StepperGroup& steppers) const;

  /// The process has run.
  void forget_memory();

  /// True if a runtime whose memory is read has been found.
  bool has_runtime() const { return go_ || (python_ && *python_); }
  std::vector<Runtime> runtimes();
  /// What the thread died of, if its language knows.
  std::optional<languages::Thrown> thrown_by(const process::Thread& thread);
  std::optional<std::uint64_t> goroutine_of(std::uint32_t tid);
  std::optional<languages::PythonStack> python_stack(std::uint32_t tid);
  std::vector<languages::Goroutine> goroutines();

private:
  bool wants(std::string_view language) const;
  bool has_cxx_library();
  languages::PythonProgram* python();

  process::ProcessState& process_;
  std::span<const std::string> wanted_;
  std::shared_ptr<languages::GoProgram> go_;
  std::optional<std::unique_ptr<languages::PythonProgram>> python_; ///< nothing: not looked for
};

/// What a goroutine does, as Go's runtime prints it: "chan receive", "running, TID 5".
std::string state_text(const languages::Goroutine& goroutine);

} // namespace sframe::unwind_tool
