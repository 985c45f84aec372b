// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walking the threads that were asked for, in one of three ways: each thread with its frames; threads with
// the same frames together (--group); each thread with how the steppers agree (--compare).

#pragma once

#include "options.h"
#include "printer.h"

#include "sframe/process/process_state.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/output.h"
#include "sframe/unwind/walker.h"

namespace sframe::unwind_tool {

/// The steppers to walk with: those asked for; for a comparison, the one that knows all registers first.
/// `main` is the executable, or nullptr.
Result<unwind::StepperList> choose_steppers(const AbiTraits& abi, modules::Module* main,
                                            const Options& options);

/// The threads that `options` ask for.
std::vector<const process::Thread*> wanted_threads(const process::ProcessState& process,
                                                   const Options& options);

/// Walks and prints `threads`, with a progress line. Ends early when nothing more can be written. True where
/// all walks were complete, and, where they were compared, exact steppers agreed.
bool walk_threads(std::span<const process::Thread* const> threads, process::ProcessState& process,
                  unwind::Walker& walker, const Options& options, Printer& printer, const tool::Output& out,
                  const tool::Messages& messages);

/// Warns of what was wrong with modules that walks met; true where a file was missing.
bool report_modules(tool::Messages& messages, process::ProcessState& process);

} // namespace sframe::unwind_tool
