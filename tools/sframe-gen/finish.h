// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit code of a conversion, and where its report goes.

#pragma once

#include "summary.h"

#include <sframe/tool/app.h>
#include <sframe/tool/output.h>

#include <functional>
#include <string>

namespace sframe::gen {

/// exit_findings if entries of `file` could not be read, or with --strict if something was left out, which is
/// reported.
int completeness_code(tool::MessageSink& messages, const CommandLine& line, const std::string& file,
                      const Summary& summary);

/// exit_findings if less than --min-coverage or --min-cfi-coverage is covered, which is reported. `file` is
/// empty for a tree.
int coverage_code(tool::MessageSink& messages, const CommandLine& line, const std::string& file,
                  const Summary& summary);

/// False if the report would be empty or only repeat messages: --report=none, or --quiet without
/// --report-file.
bool wants_report(const tool::Messages& messages, const CommandLine& line);

/// Writes the report to the file of --report-file, else to the descriptor. Returns the exit code: `code`, or
/// exit_failure.
int deliver_report(tool::App& app, const CommandLine& line, int descriptor, int code,
                   const std::function<void(tool::Output&)>& write);

} // namespace sframe::gen
