// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --keep-generated: saves what --generate has converted as sidecars for the next run.

#pragma once

#include "options.h"

#include "sframe/process/process_state.h"

namespace sframe::unwind_tool {

/// Writes a sidecar into the --sframe-dir for each module whose CFI was converted; does nothing without
/// --keep-generated. Existing files are kept. Modules without a build ID are skipped. Write errors are
/// warnings: they do not affect the walk.
void keep_generated(tool::MessageSink& messages, const Options& options, process::ProcessState& process);

} // namespace sframe::unwind_tool
