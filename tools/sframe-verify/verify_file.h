// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One FILE of the command line: finds its code, SFrame and CFI, and selects the checks to make.

#pragma once

#include <sframe/base/parallel.h>
#include <sframe/files/options.h>
#include <sframe/run/run.h>
#include <sframe/tool/input_files.h>
#include <sframe/tool/ordered.h>
#include <sframe/tool/progress.h>
#include <sframe/verify/compiler_bugs.h>
#include <sframe/verify/coverage.h>
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
  bool orc = false;
  const run::Outcome* ran = nullptr; ///< what a program executed of the files; nullptr: no such check
  Workers* workers = nullptr;        ///< for the code of a file; those that other files leave
  std::string
      sframe; ///< --sframe: a raw section, an ELF file, or a folder of sidecars; empty: the section in FILE
  std::optional<std::uint64_t> sframe_address; ///< of a raw section; empty: not given, which means 0
  std::string debug;                           ///< --debug: an ELF file; empty: looked up
  files::FileOptions files;                    ///< where separate debug files are looked up
  const readers::Reader* profile = &readers::all_readers().front();
  RequiredCoverage coverage;
  Limits limits = Limits::standard;
  bool compiler_bugs = false; ///< find these, and make no checks
  bool skip = false;          ///< in a tree: what is no ELF file, or has no code, is skipped
  tool::Missing missing = tool::Missing::automatic; ///< a file that has code and CFI, and no section
  bool several = false;                             ///< there are more files
};

/// The result of verifying a file.
struct Outcome {
  bool done = false;          ///< false if it could not be verified, which has been reported
  std::uint64_t sections = 0; ///< verified; with several parts, one. Of CFI, if compiler_bugs are found
  std::uint64_t functions = 0;
  std::uint64_t errors = 0, warnings = 0, notes = 0, hidden_notes = 0;
  std::vector<std::string> missing; ///< files and members that were left out: FileOptions::missing
  Baseline found;
  CompilerBugs bugs;             ///< FileOptions::compiler_bugs
  std::vector<Failure> failures; ///< messages about the file other than findings
};

/// The file that --sframe selects for the image: itself, or a file in a folder by build ID. Empty if there is
/// no build ID.
std::optional<std::string> sframe_path(const FileOptions& options, const elf::Image* image);

/// Verifies the file, or all archive members that have SFrame (at least one must). Files may be verified
/// concurrently, each with its own slot and its own item of the progress.
Outcome verify_file(const tool::InputFile& input, const FileOptions& options, const Format& format,
                    tool::Slot& slot, tool::Progress::Item& progress);

} // namespace sframe::verify
