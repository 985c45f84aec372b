// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outermost layer of a program: turns errors that nothing else handled into a message and an exit code.

#pragma once

namespace sframe::tool {

/// Implements main() of every program: runs `body` and returns its exit code. On out of memory (on any
/// thread, before main() or inside LLVM) or an LLVM fatal error, prints a message prefixed with `tool`,
/// removes temporary files and exits with exit_failure. Any other exception is a bug in the program and
/// aborts.
int run_program(const char* tool, int argc, char** argv, int (*body)(int argc, char** argv));

} // namespace sframe::tool
