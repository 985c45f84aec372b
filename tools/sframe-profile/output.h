// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "options.h"

#include "sframe/tool/output.h"

namespace sframe::profile_tool {

/// Looks up names, writes the profile, and reports what the recording has and lacks. `is_own`: it was made by
/// this program now. Returns the exit code.
int write_profile(tool::App& app, const Options& options, const profile::Recording& recording, bool is_own,
                  tool::Output& out);

} // namespace sframe::profile_tool
