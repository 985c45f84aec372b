// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Help texts: for people, wrapped at the width of their terminal, and as JSON, from which man pages and
// completions are made (cmake/pages.py).

#pragma once

#include "option_entry.h"
#include "sframe/tool/option_list.h"

#include <cstddef>
#include <string>

namespace sframe::tool {

/// The number of columns of help texts: COLUMNS, else that of the terminal which is standard output, else 80;
/// at least 40.
std::size_t help_width();

/// Without `all`, the common options only.
std::string help_text(const ProgramText& program, OptionEntries entries, bool all, std::size_t width);

/// {"program","version","summary","usage","options":[{"names","argument","optional","values","list",
/// "repeatable","group","common","text"}],"environment":[{"name","text"}],"exit_codes":[...],
/// "examples":[{"command","text"}]}. Positional arguments are options whose names do not begin with "-".
std::string help_json(const ProgramText& program, OptionEntries entries);

} // namespace sframe::tool
