// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One FILE of the command line: which of it is code, SFrame and CFI, and which checks are made.

#pragma once

#include "ordered.h"

#include <sframe/verify/profile.h>
#include <sframe/verify/report.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

struct FileOptions {
  bool structure = true;
  bool cfi = true;
  bool code = true;
  unsigned code_threads = 1; ///< for the code of one file
  std::string
      sframe; ///< --sframe: a raw section, an ELF file, or a folder of sidecars; empty: the section in FILE
  std::optional<std::uint64_t> sframe_address; ///< of a bare section; none: not given, which means 0
  std::string debug;                           ///< --debug: an ELF file; empty: looked up
  std::vector<std::string> debug_folders;      ///< where separate debug files are looked up
  Profile profile = Profile::spec;
  Limits limits = Limits::standard;
};

/// What came of a file.
struct Outcome {
  bool done = false; ///< false where it could not be verified, which has been said
  std::uint64_t errors = 0;
  Baseline found;
  std::vector<Failure> failures; ///< what was said of the file, but for findings
};

/// Verifies FILE, or all members of an archive that have SFrame (at least one must). Files may be verified at
/// the same time, each with a slot of its own.
Outcome verify_file(const std::string& path, const FileOptions& options, const Format& format, Slot& slot);

} // namespace sframe::verify
