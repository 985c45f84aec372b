// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A flame graph: a picture of folded stacks. Each box is a function on top of its caller; its width is its
// share of the samples. Output is deterministic: boxes are ordered by name, and the colour depends on the
// name.

#pragma once

#include "folded.h"

#include "sframe/tool/output.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sframe::unwind_tool {

/// Draws SVG 1.1. The picture is complete without scripts: viewers show each box's title (name, samples,
/// share) as a tooltip. A browser replaces it by one that can be searched, zoomed, reversed and filtered
/// (lib/page/assets/flame-graph.js), from the stacks, which the file has as folded text, too. `counts` is
/// that of FoldedStacks. Linear in the stacks' frames.
void draw_flame_graph(const std::map<std::string, StackCount>& counts, std::string_view title,
                      tool::Output& out);

} // namespace sframe::unwind_tool
