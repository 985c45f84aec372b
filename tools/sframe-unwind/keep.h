// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --keep-generated: what --generate has converted, as sidecars, where the next run finds it.

#pragma once

#include "options.h"

#include "sframe/process/process_state.h"

namespace sframe::unwind_tool {

/// Writes a sidecar into the --sframe-dir for each module whose CFI was converted; no effect without
/// --keep-generated. A file that is there is left alone. Modules without a build ID have no place there. What
/// cannot be written is a warning: the walk is not worse for it.
void keep_generated(tool::Messages& messages, const Options& options, process::ProcessState& process);

} // namespace sframe::unwind_tool
