// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border of a program: what nothing inside has handled ends here, as a message and an exit code.

#pragma once

namespace sframe::tool {

/// What main() of every program does: runs `body` and returns its exit code. Where memory runs out, on any thread,
/// before main() or inside LLVM, or where LLVM meets what it calls a fatal error, the program ends with a message in the
/// name of `tool` and exit_failure, and leaves no temporary file. Any other exception is a fault of the program and aborts.
int run_program(const char* tool, int argc, char** argv, int (*body)(int argc, char** argv));

} // namespace sframe::tool
