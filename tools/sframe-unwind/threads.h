// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walking the threads that were asked for, in one of three ways: each thread with its frames; threads with
// the same frames together (--group); each thread with how the steppers agree (--compare).

#pragma once

#include "options.h"
#include "printer.h"

#include "sframe/tool/messages.h"
#include "sframe/tool/output.h"
#include "sframe/walk/process_state.h"
#include "sframe/walk/walker.h"

namespace sframe::unwind {

/// The steppers to walk with: those asked for; for a comparison, the one that knows all registers first.
/// `main` is the executable, or nullptr.
Result<walk::StepperList> choose_steppers(const AbiTraits& abi, walk::Module* main,
                                               const Options& options);

/// The threads that `options` ask for.
std::vector<const walk::Thread*> wanted_threads(const walk::ProcessState& process, const Options& options);

/// Walks and prints `threads`, with a progress line. Ends early when nothing more can be written. True where
/// all walks were complete, and, where they were compared, exact steppers agreed.
bool walk_threads(std::span<const walk::Thread* const> threads, walk::ProcessState& process,
                  walk::Walker& walker, const Options& options, Printer& printer, const tool::Output& out,
                  const tool::Messages& messages);

/// Warns of what was wrong with modules that walks met; true where a file was missing.
bool report_modules(tool::Messages& messages, walk::ProcessState& process);

} // namespace sframe::unwind
