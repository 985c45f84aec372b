// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run over a tree does with each file, decided before the first one is written: nothing depends on the
// order in which threads get to the files.

#pragma once

#include "command_line.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace sframe::gen {

/// A file and its place in the output.
struct Step {
  tool::FoundFile file;
  std::string output;  ///< of a mirrored tree; else empty, or what --emit writes for this path
  std::string failure; ///< why nothing can be done; else empty
  std::string skipped; ///< why there is nothing to do; else empty
};

/// One conversion.
struct Job {
  Step first;
  /// Other names of the same file (hard links, a file that was given twice), and with sidecars other files
  /// with the same build ID.
  std::vector<Step> others;
};

struct Plan {
  std::vector<Job> jobs; ///< in the order of the inputs
  std::vector<tool::FoundFile>
      folders; ///< to be made, with --emit=elf and an output folder; outer ones first
};

/// Finds symbolic links in paths below a folder: they may lead anywhere. Looks at each folder once: a deep
/// tree has as many folders above each of its own.
class OutputLinks {
public:
  explicit OutputLinks(const std::string& folder);
  /// True if a folder of the path below the folder is a link. A path that ends in '/' is that of a folder.
  bool is_on_the_way(const std::string& path);

private:
  std::size_t base_size_;
  std::unordered_map<std::string, bool> known_;
};

/// True if the output is a copy of the whole tree: links, folders, and files that are not converted.
bool is_mirror(const CommandLine& line);

/// With sidecars this reads the build IDs of all files, on several threads.
Plan make_plan(const CommandLine& line, std::vector<tool::FoundFile> found);

} // namespace sframe::gen
