// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as text or JSON. The JSON keys are part of the command line contract.

#pragma once

#include "summary.h"

#include <sframe/tool/output.h>

namespace sframe::gen {

using generate::percent_text;

/// A few lines for people.
void write_text_report(const CommandLine& line, const Summary& summary, tool::Output& out);

/// Everything, for scripts.
void write_json_report(const CommandLine& line, const Summary& summary, tool::Output& out);

} // namespace sframe::gen
