// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program instruction by instruction (sframe/process/step_program.h) and compares rows with what
// happens: before each instruction, the row for its address is applied to the thread's registers and memory,
// and the result is compared with the shadow stack (shadow_stack.h).
//
// Memory: for each instruction of a verified file that is executed, some 60 bytes, however often it is; the
// rows of these files; for each call that has not returned, 40 bytes. Options::limits bounds the first.
//
// The program has the caller's standard input and output. It runs thousands of times slower than usual; its
// addresses are not randomised. If the caller dies, the program is killed.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/base/problem.h"
#include "sframe/elf/file.h"
#include "sframe/verify/against_run.h"
#include "sframe/verify/report.h"
#include "sframe/verify/row_table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sframe::run {

struct Options {
  std::vector<std::string> command;            ///< the program, looked up in PATH, and its arguments
  std::uint64_t max_steps = ~std::uint64_t{0}; ///< then the program runs on, and is not followed
  /// Where the first step is: the name of a function of the program or of a shared library, as in the symbol
  /// table; an address in the program's file; or one in a library's file, `libx.so.1:0x1234`. Until then the
  /// program runs at its speed. Empty: at its start.
  std::string from;
  /// The program is executed in this one, for its machine; empty: in the usual one, or on this machine.
  std::string emulator;
  /// Of what is kept of all files (docs/dev/limits.md).
  Limits limits = Limits::standard;
  /// The rows of a file that the program has mapped; empty: it is not to be verified. Called once per file.
  /// `path` leads to the mapped file.
  std::function<std::optional<verify::RowTable>(const std::string& path, const elf::File::Id& id)> rows_of;
};

/// A file that is verified.
struct FileRecord {
  std::string path;
  elf::File::Id id;
  verify::RunRecord record;
};

struct Outcome {
  std::vector<FileRecord> files; ///< in the order in which the program executed something of them
  verify::RunSummary summary;
  std::optional<Problem> left_out; ///< by Options::limits
};

/// Returns when the program and all its children have ended. Fails if the program cannot be started or
/// traced, if `from` is not reached, or is given for an emulator. Must be called while the calling program
/// has no other child processes.
Result<Outcome> run(const Options& options);

} // namespace sframe::run
