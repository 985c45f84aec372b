// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What has moved to sframe-profile: stacks of a process that are counted over a time.

#pragma once

#include "options.h"

namespace sframe::unwind_tool {

/// True if the command line asks for a series of stacks that are counted.
inline bool is_profile(const Options& options) {
  return options.pid != 0 && options.count > 1 && options.format->counts;
}

/// Executes sframe-profile with what is the same there, after a note that has the command. Returns the exit
/// code if it cannot: an option has no equal, or there is no sframe-profile.
int execute_profile(tool::App& app, const Options& options);

} // namespace sframe::unwind_tool
