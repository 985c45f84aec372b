// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's work: opens the core, walks its threads, prints, and reports problems.

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// `--pid`: stacks of a running process, once or as samples. The process is stopped only for the walks:
/// frames are stored, then named and printed after it resumes. Returns the exit code.
int run_live(tool::App& app, const Options& options, tool::Output& out);

/// Several cores: each is walked, in parallel, and they are grouped by their signatures. The order of all
/// output is that of options.inputs. Text: a stack for each group. JSON: a line for each core, then one with
/// the groups. At most some tens of megabytes of results wait for their turn. Returns the exit code.
int run_many(tool::App& app, const Options& options, tool::Output& out);

/// Walks a core, or with `--pid` a process, and prints. Returns the exit code.
int run(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
