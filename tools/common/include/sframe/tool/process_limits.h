// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of a program's processor time and memory by the size of all files that it has opened, for whatever
// the limits of single resources (sframe/base/budget.h) do not foresee. docs/limits.md has the numbers.

#pragma once

#include "sframe/base/budget.h"

#include <cstddef>
#include <string>

namespace sframe::tool {

/// Begins to limit this process, which has at most so many threads at work; nothing with Limits::off.
/// App::parse() calls it. At the limit, all budgets end (Budget::end_all()), so that the program reports it
/// and ends in its usual way. If it takes much more even so, it ends with a message prefixed with `tool`, its
/// temporary files removed, and exit_failure. Uses SIGVTALRM; costs seven system calls, and a signal for each
/// 5 ms of processor time. Call before the first thread starts.
void limit_process(Limits limits, unsigned threads, const std::string& tool);

/// Ends that, for a program whose work does not depend on the size of files: it watches a process.
void lift_process_limits() noexcept;

/// Adds what `count` files of the command line may cost in addition to their bytes.
void expect_files(std::size_t count) noexcept;

/// Call when work on one of several files of the command line begins: if a limit was reached, the file gets
/// the time that it would have alone, and budgets that begin now do not end at once. Thread-safe.
void begin_file() noexcept;

} // namespace sframe::tool
