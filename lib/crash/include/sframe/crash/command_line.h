// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of a process, from its core.

#pragma once

#include "sframe/core/core.h"

#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct CommandLine {
  std::vector<std::string> arguments; ///< bytes of the process, the program's name first
  bool complete = true;               ///< false: there may be more
};

/// The arguments that the process was started with: as they are on its stack, else as in the core's notes,
/// which have 79 bytes. Empty if both are missing. Bounded: 1024 arguments, 64 KiB.
CommandLine command_line(const core::Core& core);

/// The arguments as one line, quoted for a shell where necessary (append_shell_word()), and " ..." if there
/// may be more.
std::string shell_line(const CommandLine& command);

} // namespace sframe::crash

#pragma GCC visibility pop
