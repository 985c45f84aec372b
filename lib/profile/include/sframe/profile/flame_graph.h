// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A flame graph: a picture of folded stacks. Each box is a function on top of its caller; its width is its
// share of the stacks. Output is deterministic: boxes are ordered by name, and the colour depends on the
// name.

#pragma once

#include "sframe/profile/folded.h"

#include <cstdint>
#include <string_view>

namespace sframe::profile {

struct FlameGraphHeading {
  std::string_view name;
  std::uint64_t samples = 0;       ///< each has a stack of each thread; 0: not counted apart from the stacks
  std::string_view unit = "stack"; ///< what is counted, as one of them; static
};

/// Draws SVG 1.1, as wide as what shows it: places are percentages, and a name is cut off at the end of its
/// box. The picture is complete without scripts: viewers show each box's title (name, stacks, share) as a
/// tooltip. A browser replaces it by one that can be searched, zoomed, reversed and filtered
/// (lib/page/assets/flame-graph.js), from the stacks, which the file has as folded text, too. Linear in the
/// stacks' frames.
void draw_flame_graph(const StackCounts& counts, const FlameGraphHeading& heading, const Sink& to);

} // namespace sframe::profile
