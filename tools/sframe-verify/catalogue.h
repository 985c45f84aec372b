// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --list-checks and --explain print.

#pragma once

#include <sframe/tool/output.h>

#include <string_view>

namespace sframe::verify {

/// One line per finding; as Markdown, the text of docs/findings.md.
void list_checks(tool::Output& out, bool markdown);

/// What a finding means. False where there is none of that name.
bool explain(tool::Output& out, std::string_view name);

} // namespace sframe::verify
