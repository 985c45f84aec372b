// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--pid`: stacks of a running process, once or as samples. The process stands still for the walks only:
// frames are kept, and named and printed when it runs again.

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// Walks options.pid and prints; the exit code.
int run_live(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
