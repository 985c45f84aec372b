// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole run: all files, on several threads, as one report; and the baseline before and after it.

#pragma once

#include "verify_file.h"

#include <sframe/tool/messages.h>
#include <sframe/tool/output.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

struct RunOptions;

/// A row of the table of --format.
struct OutputFormat {
  const char* name;
  const char* help; ///< its part of the option's text
  /// nullptr: not for reports.
  std::unique_ptr<Format> (*make)(const RunOptions& options, const ReportOptions& report);
  Severity level = Severity::warning; ///< without --level
};

struct RunOptions {
  std::vector<tool::InputFile> files;
  std::optional<std::uint64_t> skipped; ///< of a tree: how many other files were found
  FileOptions file;
  ReportOptions report;
  const OutputFormat* format;           ///< of the reports
  bool bugs_as_json = false;            ///< with --compiler-bugs
  std::vector<std::string> checks;      ///< as JUnit's cases
  bool warnings_are_errors = false;     ///< also those that are no findings
  std::string baseline, write_baseline; ///< files; may be empty
  std::optional<Baseline> known;        ///< contents of `baseline`
  unsigned threads = 1;
  std::string command_line; ///< for the report, as a shell takes it
};

/// Reads the file options.baseline. Returns false if it cannot be read, which has been reported.
bool read_baseline(RunOptions& options, tool::Messages& messages);

/// Returns the exit code.
int run(const RunOptions& options, tool::Messages& messages, tool::Output& out);

} // namespace sframe::verify
