// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats. A printer receives threads and frames as they are found and writes them at once; it stores
// nothing, regardless of the depth of a stack.

#pragma once

#include "formats.h"
#include "languages.h"
#include "names.h"
#include "place.h"

#include "sframe/crash/command_line.h"
#include "sframe/crash/crash.h"
#include "sframe/crash/origin.h"
#include "sframe/crash/packages.h"
#include "sframe/crash/signature.h"
#include "sframe/process/process_state.h"
#include "sframe/tool/output.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/compare.h"
#include "sframe/unwind/walker.h"

#include "sframe/base/problem.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::unwind_tool {

struct PrintSettings {
  bool registers = false;
  bool arguments = false;
  bool locals = false;
  bool color = false;
  bool modules = false; ///< JSON: all of each module's files
  bool fold = false;    ///< text: leave out frames that repeat the ones before them
};

/// What precedes the threads of a core.
struct CoreHeader {
  bool truncated = false; ///< the core file
  crash::CommandLine command;
  const modules::Module* program = nullptr; ///< nullptr if unknown
  crash::Package package;                   ///< of the program
  crash::CoreOrigin origin;
  crash::Crash crash;                          ///< of the thread that died, if it is printed
  const modules::Module* crashed_in = nullptr; ///< if that is not the program, and has a package:
  crash::Package crashed_package;
  crash::Signature signature;     ///< of the thread that died, if it is printed
  std::vector<CrashPlace> places; ///< likewise, as far as they are known: where it died, and the caller
  std::vector<Languages::Runtime> runtimes;
  std::optional<languages::Thrown> thrown; ///< by the thread that died, if it is printed
  std::optional<std::uint64_t> goroutine;  ///< that this thread runs, or left for the runtime
};

class Printer {
public:
  virtual ~Printer() = default;
  /// `core` is nullptr for a running process.
  virtual void begin(process::ProcessState& process, const CoreHeader* core) = 0;
  /// The following frames are those of each of `threads`, which is not empty.
  virtual void begin_thread(std::span<const process::Thread* const> threads) = 0;
  /// The Python frames of these threads, before the native ones.
  virtual void python(const languages::PythonStack& stack) { static_cast<void>(stack); }
  /// After the threads: the following frames are those of each of `goroutines`, which is not empty; until
  /// end_thread().
  virtual void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) = 0;
  /// A goroutine whose frames are those of its thread.
  virtual void running_goroutine(const languages::Goroutine& goroutine) { static_cast<void>(goroutine); }
  virtual void frame(const unwind::Frame& frame, const unwind::Registers& registers) = 0;
  /// So many frames follow that are not passed to frame(): the page has only the ends of deep stacks.
  virtual void left_out([[maybe_unused]] std::uint64_t frames) {}
  virtual void comparison(std::span<const unwind::StepperComparison> results) = 0;
  virtual void end_thread(const unwind::WalkEnd& end) = 0;
  virtual void end(process::ProcessState& process) = 0;
  /// Bytes of text that are to be printed later: for limits, they are printed.
  virtual std::uint64_t kept() const { return 0; }
};

std::unique_ptr<Printer> make_text_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings);
std::unique_ptr<Printer> make_json_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings);

/// A page (sframe/page/page.h) with the JSON. `path`: of the core.
std::unique_ptr<Printer> make_html_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings, std::string path);

/// The JSON document if there is nothing to walk.
void print_json_failure(tool::Output& out, std::string_view file, const Problem& why);

/// The JSON document, or the page, if there is nothing to walk: the problem `why` of `file`. Does nothing for
/// other formats.
void print_failure(tool::Output& out, const OutputFormat& format, std::string_view file, const Problem& why);

/// Calls f(name, value) for each known register, the pc last.
template <class F>
void each_register(const unwind::Registers& registers, const unwind::UnwindAbi& abi, F&& f) {
  for (std::size_t reg = 0; reg < abi.register_names.size(); ++reg)
    if (const auto value = registers.get(reg)) f(abi.register_names[reg], *value);
  f(std::string_view("pc"), registers.pc);
}

} // namespace sframe::unwind_tool
