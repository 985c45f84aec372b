// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's work: open the core, walk its threads, print, and tell what was wrong.

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::unwind_tool {

/// Walks and prints; the exit code.
int run(tool::App& app, const Options& options, tool::Output& out);

} // namespace sframe::unwind_tool
