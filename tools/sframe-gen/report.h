// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as text or JSON. The JSON keys are part of the command line contract.

#pragma once

#include "summary.h"

#include <sframe/base/text.h>
#include <sframe/tool/output.h>

namespace sframe::gen {

/// "97.69 % of 789,385".
std::string share_text(const CoveredBytes& bytes);

/// A few lines for people.
void write_text_report(const CommandLine& line, const Summary& summary, tool::Output& out);

/// Everything, for scripts.
void write_json_report(const CommandLine& line, const Summary& summary, tool::Output& out);

/// Parts of the JSON report, with a comma before each key: all but "input"; what became of functions and
/// their bytes; "executable_bytes"; sizes; "error".
void write_json_details(const CommandLine& line, const Summary& summary, tool::Output& out);
void write_json_figures(const Summary& summary, tool::Output& out);
void write_json_executable(const ExecutableBytes& bytes, tool::Output& out);
void write_json_sizes(const Summary& summary, tool::Output& out);
void write_json_error(const FileProblem& failure, tool::Output& out);

/// Lines of the text report: the share of the bytes that the input describes; functions; what was left out.
void write_text_described(const CommandLine& line, const Summary& summary, tool::Output& out);
void write_text_functions(const generate::Report& report, tool::Output& out);
/// What --shrink-cfi saved; `summary` has the figures.
void write_text_shrunk(const Summary& summary, tool::Output& out);
void write_text_reasons(const CommandLine& line, const generate::Report& report, tool::Output& out);

} // namespace sframe::gen
