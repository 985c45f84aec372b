// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output of --list-checks and --explain.

#pragma once

#include <sframe/tool/output.h>
#include <sframe/verify/findings.h>

namespace sframe::verify {

/// One line per finding; as Markdown, the text of docs/findings.md.
void list_checks(tool::Output& out, bool markdown);

/// The meaning of a finding, what to do, and an example.
void explain(tool::Output& out, const Check& check);

} // namespace sframe::verify
