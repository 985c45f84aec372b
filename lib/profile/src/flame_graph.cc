// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/flame_graph.h"

#include "sframe/base/text.h"
#include "sframe/page/page.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace sframe::profile {

namespace {

// Across, percentages of the width; down, pixels.
constexpr double margin = .8, inner = 100 - 2 * margin;
constexpr double narrowest = .025;     ///< boxes narrower than this are omitted: .3 of 1200 pixels
constexpr double narrowest_text = 2.3; ///< 27 of 1200 pixels: three characters
constexpr double row = 18, header = 40, below = 10;

/// A box. Stacks of any depth become trees of that depth, so nothing here is recursive.
struct Box {
  std::string_view name;
  std::size_t depth = 0;
  std::uint64_t first = 0; ///< stacks to the left of it
  std::uint64_t count = 0;
};

/// Stacks are sorted by text. Adjacent stacks share boxes as far as their callers are the same.
std::vector<Box> boxes_of(const StackCounts& counts) {
  std::vector<Box> boxes;
  std::vector<std::size_t> open; ///< in boxes: those of the preceding stack, outermost first
  std::uint64_t position = 0;
  for (const auto& [stack, count] : counts) {
    bool same = true;
    std::size_t depth = 0;
    for (std::string_view rest = stack;; ++depth) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view name = rest.substr(0, end);
      same = same && depth < open.size() && boxes[open[depth]].name == name;
      if (!same) {
        open.resize(depth);
        open.push_back(boxes.size());
        boxes.push_back({name, depth, position, 0});
      }
      boxes[open[depth]].count += count.all;
      if (end == rest.size()) break;
      rest.remove_prefix(end + 1);
    }
    open.resize(depth + 1);
    position += count.all;
  }
  return boxes;
}

/// A number with `digits` decimal places.
std::string fixed(double value, int digits) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
  return std::string(text, end);
}

/// A warm colour from the name (FNV-1a).
std::string color(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const auto part = [&](std::uint32_t least, int shift, std::uint32_t range) {
    return std::to_string(least + (hash >> shift) % range);
  };
  return "rgb(" + part(205, 0, 50) + ',' + part(80, 8, 140) + ',' + part(0, 16, 60) + ')';
}

struct Picture {
  std::uint64_t total; ///< of what is counted
  double height;       ///< pixels
};

void draw(const Box& box, const Picture& picture, std::string& out) {
  const double total = static_cast<double>(picture.total);
  const double size = static_cast<double>(box.count) / total * inner;
  if (size < narrowest) return;
  const double x = margin + static_cast<double>(box.first) / total * inner;
  const double y = picture.height - below - row * static_cast<double>(box.depth + 1);
  const std::string name = page::markup_text(box.name);
  out += "<g><title>" + name + " (" + std::to_string(box.count) + " of " + std::to_string(picture.total) +
         ", " + fixed(100 * static_cast<double>(box.count) / total, 1) + "%)</title>";
  out += "<svg x=\"" + fixed(x, 3) + "%\" y=\"" + fixed(y, 0) + "\" width=\"" + fixed(size, 3);
  out += "%\" height=\"" + fixed(row - 1, 0) + "\"><rect width=\"100%\" height=\"100%\" fill=\"" +
         color(box.name) + "\" stroke=\"#fffaf0\"/>";
  if (size >= narrowest_text) out += "<text x=\"3\" y=\"13\">" + name + "</text>";
  out += "</svg></g>\n";
}

std::string start_of(const FlameGraphHeading& heading, const Picture& picture) {
  const std::string name = page::markup_text(heading.name);
  std::string out;
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"100%\" height=\"" +
         fixed(picture.height, 0) + "\" font-family=\"monospace\" font-size=\"12\">\n";
  out += "<style>.back { fill: #fffaf0 } .heading { fill: #222 }\n@media (prefers-color-scheme: dark) { "
         ".back { fill: #14181d } .heading { fill: #e2e8ef } }</style>\n"
         "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n";
  out += "<text class=\"heading\" x=\"10\" y=\"24\" font-size=\"16\" data-unit=\"" +
         std::string(heading.unit) + "\" data-name=\"" + name + "\" data-samples=\"" +
         std::to_string(heading.samples) + "\">" + name + ": " + counted(picture.total, heading.unit);
  if (heading.samples) out += " in " + counted(heading.samples, "sample");
  return out += "</text>\n<g id=\"picture\">\n";
}

} // namespace

void draw_flame_graph(const StackCounts& counts, const FlameGraphHeading& heading, const Sink& to) {
  const std::vector<Box> boxes = boxes_of(counts);
  Picture picture{};
  for (const auto& [stack, count] : counts) picture.total += count.all;
  std::size_t rows = 0;
  for (const Box& box : boxes) rows = std::max(rows, box.depth + 1);
  picture.height = header + row * static_cast<double>(rows) + below;

  to(start_of(heading, picture));
  std::string out;
  for (const Box& box : boxes) {
    out.clear();
    draw(box, picture, out);
    to(out);
  }
  to("</g>\n<script type=\"text/plain\" id=\"stacks\">\n");
  for (const auto& [stack, count] : counts)
    to(page::markup_text(stack) + ' ' + std::to_string(count.all) + ' ' + std::to_string(count.running) +
       '\n');
  to("</script>\n<script>" + page::flame_graph_script() + "</script>\n</svg>\n");
}

} // namespace sframe::profile
