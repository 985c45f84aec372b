// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page has of the format json.

#pragma once

#include "printer.h"

namespace sframe::unwind_tool {

/// The JSON document if there is nothing to walk.
void print_json_failure(tool::Output& out, std::string_view file, const Problem& why);

} // namespace sframe::unwind_tool
