// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output selected by --emit.

#pragma once

#include "generate.h"

#include <sframe/elf/file.h>

#include <utility>

namespace sframe::gen {

/// A problem and the file that has it.
struct FileProblem {
  std::string file;
  Problem problem;
};

inline unexpected<FileProblem> problem_in(const std::string& file, Problem problem) {
  return unexpected(FileProblem{file, std::move(problem)});
}

/// Writes the output selected by --emit, atomically. `file` is the input's. Returns the path that was
/// written; for a sidecar folder, it is below that folder.
expected<std::string, FileProblem> emit(const CommandLine& line, const elf::File& file, const Input& input,
                                        const Generated& generated);

/// Writes a changed copy of the input.
expected<std::string, FileProblem> write_image(const CommandLine& line, const elf::File& file,
                                               const elf::Edit& edit);

} // namespace sframe::gen
