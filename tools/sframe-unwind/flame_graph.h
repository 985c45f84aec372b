// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A flame graph: a picture of folded stacks. Each box is a function, as wide as the share of the samples it
// was in, and stands on its caller. The same stacks give the same bytes: boxes are ordered by name, and the
// colour comes from the name.

#pragma once

#include "sframe/tool/output.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sframe::unwind_tool {

/// Draws SVG 1.1 without scripts; browsers show each box's title (name, samples, share) under the pointer.
/// `counts` is that of FoldedStacks. Linear in the stacks' frames.
void draw_flame_graph(const std::map<std::string, std::uint64_t>& counts, std::string_view title,
                      tool::Output& out);

} // namespace sframe::unwind_tool
