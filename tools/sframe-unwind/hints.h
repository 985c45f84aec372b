// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What would help if names are missing: a package, a debug file by build ID, or a variable.

#pragma once

#include "names.h"
#include "options.h"

#include "sframe/tool/messages.h"

namespace sframe::unwind_tool {

/// Prints a note for each module with frames that have no name.
void print_hints(tool::Messages& messages, const Options& options, const Symbolizer& symbolizer);

} // namespace sframe::unwind_tool
