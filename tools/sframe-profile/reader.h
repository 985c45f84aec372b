// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "options.h"

namespace sframe::profile_tool {

struct ReadFile {
  profile::Recording recording;
  bool is_whole = true; ///< false: there was a warning of what is damaged, or was left out
};

/// Reads the recording of perf in options.file, and walks its copied stacks. Sets the budget in
/// options.record.files.
Result<ReadFile> read_recording(tool::App& app, Options& options);

} // namespace sframe::profile_tool
