// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: source lines as DWARF, version 4: one compilation unit with a line table.

#pragma once

#include "sframe/jit/publisher.h"

#include <cstddef>
#include <vector>

namespace sframe::jit {

/// Contents of sections. All are empty if there are no lines.
struct DebugLines {
  std::vector<std::byte> abbrev, info, line;
};

/// Lines after the code's end are left out. Throws std::bad_alloc.
DebugLines make_debug_lines(const PublishedCode& code);

} // namespace sframe::jit
