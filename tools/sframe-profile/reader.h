// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "options.h"

namespace sframe::profile_tool {

/// Reads the recording of perf in options.file, and walks its copied stacks. Warns of what is damaged. Sets
/// the budget in options.record.files.
Result<profile::Recording> read_recording(tool::App& app, Options& options);

} // namespace sframe::profile_tool
