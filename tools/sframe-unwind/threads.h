// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the requested threads in one of three ways: each thread with its frames; threads with the same frames
// together (--group); each thread with a comparison of the steppers (--compare).

#pragma once

#include "options.h"
#include "printer.h"

#include "sframe/base/budget.h"
#include "sframe/process/process_state.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/output.h"
#include "sframe/unwind/walker.h"

namespace sframe::unwind_tool {

/// The steppers to use: those requested; for a comparison and for values of variables, the one that knows all
/// registers first. `main` is
/// the executable, or nullptr.
Result<unwind::StepperList> choose_steppers(const AbiTraits& abi, modules::Module* main,
                                            const Options& options);

/// How the options request frames to be printed.
PrintSettings print_settings(tool::App& app, const Options& options);

/// The printer that `options` request, for a core or a sample.
std::unique_ptr<Printer> make_printer(const Options& options, tool::Output& out, Symbolizer& symbolizer,
                                      const PrintSettings& settings);

/// The steppers that find callers for the values of variables; empty if none are printed.
unwind::StepperList steppers_for_variables(const AbiTraits& abi, modules::Module* main,
                                           const Options& options);

/// What the options request to be looked up.
SymbolizerSettings symbolizer_settings(const Options& options);

/// The threads that `options` request.
std::vector<const process::Thread*> wanted_threads(const process::ProcessState& process,
                                                   const Options& options);

/// Walks and prints `threads`, what `languages` (may be nullptr) knows of them, and, if they are all threads
/// of the process, goroutines; with a progress line if there are `messages`. Stops early if nothing more can
/// be written. True if all walks were complete and, if they were compared, exact steppers agreed.
bool walk_threads(std::span<const process::Thread* const> threads, process::ProcessState& process,
                  unwind::Walker& walker, const Options& options, Printer& printer, const tool::Output& out,
                  Languages* languages, tool::Messages* messages);

/// Charges what a printer prints to a budget.
class PrintCharge {
public:
  /// What `printer` keeps from before counts, too. `budget` may be nullptr.
  PrintCharge(const Printer& printer, const tool::Output& out, Budget* budget)
      : printer_(printer), out_(out), budget_(budget), charged_(out.size()) {}
  /// After each frame: false if no more may be printed.
  bool may_go_on() {
    constexpr std::uint64_t at_once = 1 << 16;
    const std::uint64_t printed = out_.size() + printer_.kept();
    if (!budget_ || printed < charged_ + at_once) return true;
    const std::uint64_t more = printed - charged_;
    charged_ = printed;
    return budget_->take(Resource::printed_bytes, more);
  }

private:
  const Printer& printer_;
  const tool::Output& out_;
  Budget* budget_;
  std::uint64_t charged_; ///< bytes already charged
};

/// Warns about problems of modules found in walks; true if a file was missing.
bool report_modules(tool::MessageSink& messages, process::ProcessState& process);

} // namespace sframe::unwind_tool
