// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --check=run: runs the program of the command line before the files are verified.

#pragma once

#include "verify_file.h"

#include <sframe/run/run.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sframe::verify {

struct ProgramOptions {
  std::vector<std::string> command;
  std::uint64_t max_steps = ~std::uint64_t{0};
  std::string from;               ///< run::Options::from
  std::string emulator;           ///< empty: as the program's machine needs
  std::vector<std::string> files; ///< to verify; empty: all that have a section
};

/// Runs the program and returns what it executed of the files. Fails if it cannot be run.
Result<run::Outcome> follow_program(const ProgramOptions& program, const FileOptions& options);

/// The arguments before `--`, and the program with its arguments after it. Only if an argument before it
/// selects the check: otherwise `--` ends the options, as in other programs.
struct SplitArguments {
  std::span<char* const> own;
  std::vector<std::string> command;
};
SplitArguments split_arguments(std::span<char* const> arguments);

} // namespace sframe::verify
