// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several inputs and whole folders: each file is converted in place, into a mirrored tree, or into a folder
// of sidecars. What cannot be converted is counted by reason and never stops the run.

#pragma once

#include "command_line.h"

namespace sframe::gen {

/// Enters the sandbox, converts all files and writes the report. Returns the exit code.
int run_tree(tool::App& app, const CommandLine& line);

} // namespace sframe::gen
