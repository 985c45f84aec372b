// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several cores: each is walked, in parallel, and they are grouped by their signatures. The order of all
// output is that of the cores on the command line.

#pragma once

#include "options.h"

#include "sframe/tool/app.h"
#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// Walks the cores of options.inputs. Text: a stack for each group. JSON: a line for each core, then one with
/// the groups. At most some tens of megabytes of results wait for their turn. Returns the exit code.
int run_many(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
