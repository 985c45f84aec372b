// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing what --emit asks for.

#pragma once

#include "generate.h"

namespace sframe::gen {

/// A problem and the file that has it.
struct FileProblem {
  std::string file;
  elf::Problem problem;
};

/// Writes the section as the command line says, whole or not at all. Gives the path that was written, which
/// for a sidecar folder is below it.
std::expected<std::string, FileProblem> emit(const CommandLine& line, const Input& input,
                                             const Generated& generated);

} // namespace sframe::gen
