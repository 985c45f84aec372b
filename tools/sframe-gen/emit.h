// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing what --emit asks for.

#pragma once

#include "generate.h"

#include <sframe/elf/file.h>

namespace sframe::gen {

/// A problem and the file that has it.
struct FileProblem {
  std::string file;
  Problem problem;
};

/// Writes what --emit asks for, whole or not at all. `file` is the input's. Gives the path that was written,
/// which for a sidecar folder is below it.
std::expected<std::string, FileProblem> emit(const CommandLine& line, const elf::File& file,
                                             const Input& input, const Generated& generated);

/// Writes a changed copy of the input.
std::expected<std::string, FileProblem> write_image(const CommandLine& line, const elf::File& file,
                                                    const elf::Edit& edit);

} // namespace sframe::gen
