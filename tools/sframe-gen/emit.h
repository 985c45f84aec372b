// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output selected by --emit.

#pragma once

#include "generate.h"

#include <sframe/elf/file.h>

#include <cstdint>
#include <utility>

namespace sframe::gen {

/// A problem and the file that has it.
struct FileProblem {
  std::string file;
  Problem problem;
  /// The file's contents cannot be converted. False if reading or writing failed.
  bool refused = false;
};

/// A file that was written.
struct OutputFile {
  std::string path;
  std::uint64_t size = 0; ///< bytes
  bool changed = true;    ///< false in a tree: it was up to date and was left alone
};

inline unexpected<FileProblem> problem_in(const std::string& file, Problem problem) {
  return unexpected(FileProblem{file, std::move(problem)});
}

inline unexpected<FileProblem> refuse(const std::string& file, Problem problem) {
  return unexpected(FileProblem{file, std::move(problem), true});
}

/// Writes the output selected by --emit, atomically. `file` is the input's. For a sidecar folder, the path
/// that was written is below that folder.
expected<OutputFile, FileProblem> emit(const CommandLine& line, const elf::File& file, const Input& input,
                                       const Generated& generated);

/// True if `path` is a folder, or ends as one.
bool names_folder(const std::string& path);

/// The path of the image's output in the folder `line.output`, with --emit=sidecar or bpf-table; empty
/// without a build ID.
std::string path_by_build_id(const CommandLine& line, const elf::Image& image);

/// Writes a changed copy of the input. In a tree, only if the output is not up to date: does not have these
/// bytes and permission bits.
expected<OutputFile, FileProblem> write_image(const CommandLine& line, const elf::File& file,
                                              const edit::Edit& edit);

} // namespace sframe::gen
