// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's work: opens the core, walks its threads, prints, and reports problems.

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// Walks and prints. Returns the exit code.
int run(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
