// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Python frames of threads, from the data of the interpreter: CPython 3.11 and 3.12 by the structures of
// these versions (Include/internal/pycore_frame.h), 3.13 by the offsets that the interpreter states itself
// (_Py_DebugOffsets in pycore_runtime.h). Symbols are not needed beyond the exported `_PyRuntime`. The memory
// may be damaged: all loops are bounded, all reads charged to the budget.

#pragma once

#include "sframe/modules/module.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::languages {

struct PythonFrame {
  std::string function;   ///< the qualified name: "Server.handle.<locals>.<lambda>"
  std::string file;       ///< as the code object has it: to be escaped when it is printed
  std::uint32_t line = 0; ///< 0: unknown
};

struct PythonStack {
  std::vector<PythonFrame> frames; ///< innermost first
  bool holds_gil = false;          ///< the global interpreter lock
  /// Why frames are missing at the end; empty if none are. Static text.
  std::string_view problem;
};

class PythonProgram {
public:
  /// nullptr if none of the modules is a Python interpreter: an executable or library called `python*` or
  /// `libpython*`. Opens these. All arguments must outlive the object.
  static std::unique_ptr<PythonProgram> open(modules::ModuleSpace& space,
                                             std::deque<modules::Module>& modules);
  ~PythonProgram();
  PythonProgram(const PythonProgram&) = delete;
  PythonProgram& operator=(const PythonProgram&) = delete;

  /// "3.11.2"; empty if unknown.
  const std::string& version() const;
  /// Why there are no stacks; empty if there may be some.
  const std::string& problem() const;

  /// The frames of a thread, at most 10,000; nothing if the interpreter does not know the thread. Threads are
  /// identified by the number that they have in their own PID namespace.
  std::optional<PythonStack> stack_of(std::uint32_t tid);

private:
  struct State;
  explicit PythonProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace sframe::languages
