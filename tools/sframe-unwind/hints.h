// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What would help if names are missing: a package, a debug file by build ID, or a variable.

#pragma once

#include "names.h"
#include "options.h"

#include "sframe/crash/packages.h"
#include "sframe/tool/messages.h"

namespace sframe::unwind_tool {

/// Prints one note with the command that installs the debug symbols of packages, and one for each other
/// module with frames that have no name.
void print_hints(tool::Messages& messages, const Options& options, const Symbolizer& symbolizer,
                 crash::InstalledPackages& installed);

} // namespace sframe::unwind_tool
