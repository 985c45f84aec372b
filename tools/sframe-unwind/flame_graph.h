// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A flame graph: a picture of folded stacks. Each box is a function on top of its caller; its width is its
// share of the samples. Output is deterministic: boxes are ordered by name, and the colour depends on the
// name.

#pragma once

#include "sframe/tool/output.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sframe::unwind_tool {

/// Draws SVG 1.1 without scripts; browsers show each box's title (name, samples, share) as a tooltip.
/// `counts` is that of FoldedStacks. Linear in the stacks' frames.
void draw_flame_graph(const std::map<std::string, std::uint64_t>& counts, std::string_view title,
                      tool::Output& out);

} // namespace sframe::unwind_tool
