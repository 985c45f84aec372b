// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--pid`: stacks of a running process, once or as samples. The process is stopped only for the walks: frames
// are stored, then named and printed after it resumes.

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// Walks options.pid and prints. Returns the exit code.
int run_live(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
