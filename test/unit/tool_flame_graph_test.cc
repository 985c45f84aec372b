// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of a flame graph: the place, the width and the text of each box, worked out by hand from the
// counts of folded stacks. 1180 pixels are for all samples, and 18 for each row; 10 around them, 40 above for
// the title.

#include "../../tools/sframe-unwind/flame_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace tool_flame_graph_test {

using sframe::unwind_tool::StackCount;
using Counts = std::map<std::string, StackCount>;

std::string drawn(const Counts& counts, std::string_view title = "title") {
  sframe::tool::Output out(-1);
  sframe::unwind_tool::draw_flame_graph(counts, title, out);
  return out.take_text();
}

/// What the picture has from `begin` to the next `end`; empty if it has no `begin`.
std::string part(const std::string& picture, const std::string& begin, std::string_view end) {
  const std::size_t at = picture.find(begin);
  return at == picture.npos ? std::string() : picture.substr(at, picture.find(end, at) - at);
}

/// The place and size of the box with this title.
std::string box(const std::string& picture, const std::string& title) {
  const std::string all = part(picture, "<title>" + title + "</title>", "</g>");
  return part(all, "x=", " fill");
}

TEST(FlameGraph, BoxesByDepthAndCount) {
  const std::string picture = drawn({{"t;main;a", {3, 0}}, {"t;main;b", {1, 1}}, {"t;z", {4, 0}}});
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"1200\" "
                                  "height=\"104\" viewBox=\"0 0 1200 104\""));
  EXPECT_NE(picture.find(">title: 8 stacks</text>"), picture.npos);
  // 147.5 pixels for a sample.
  EXPECT_EQ(box(picture, "t (8 of 8, 100.0%)"), R"(x="10.00" y="76" width="1180.00" height="17")");
  EXPECT_EQ(box(picture, "main (4 of 8, 50.0%)"), R"(x="10.00" y="58" width="590.00" height="17")");
  EXPECT_EQ(box(picture, "a (3 of 8, 37.5%)"), R"(x="10.00" y="40" width="442.50" height="17")");
  EXPECT_EQ(box(picture, "b (1 of 8, 12.5%)"), R"(x="452.50" y="40" width="147.50" height="17")");
  EXPECT_EQ(box(picture, "z (4 of 8, 50.0%)"), R"(x="600.00" y="58" width="590.00" height="17")");
  EXPECT_NE(picture.find("<text x=\"455.50\" y=\"53\">b</text>"), picture.npos);
  EXPECT_NE(picture.find("id=\"stacks\">\nt;main;a 3 0\nt;main;b 1 1\nt;z 4 0\n</script>"), picture.npos);
}

// Functions of the same name share a box only where their callers do.
TEST(FlameGraph, BoxesBelongToTheirCallers) {
  const std::string picture = drawn({{"t", {1, 0}},
                                     {"t;a", {1, 0}},
                                     {"t;a;x", {2, 0}},
                                     {"t;b", {1, 0}},
                                     {"t;b;x", {3, 0}},
                                     {"u;b", {2, 0}}});
  EXPECT_EQ(box(picture, "t (8 of 10, 80.0%)"), R"(x="10.00" y="76" width="944.00" height="17")");
  EXPECT_EQ(box(picture, "a (3 of 10, 30.0%)"), R"(x="128.00" y="58" width="354.00" height="17")");
  EXPECT_EQ(box(picture, "x (2 of 10, 20.0%)"), R"(x="246.00" y="40" width="236.00" height="17")");
  EXPECT_EQ(box(picture, "b (4 of 10, 40.0%)"), R"(x="482.00" y="58" width="472.00" height="17")");
  EXPECT_EQ(box(picture, "x (3 of 10, 30.0%)"), R"(x="600.00" y="40" width="354.00" height="17")");
  EXPECT_EQ(box(picture, "u (2 of 10, 20.0%)"), R"(x="954.00" y="76" width="236.00" height="17")");
  EXPECT_EQ(box(picture, "b (2 of 10, 20.0%)"), R"(x="954.00" y="58" width="236.00" height="17")");
}

TEST(FlameGraph, NarrowBoxesAreLeftOut) {
  const std::string picture = drawn({{"a", {9996, 0}}, {"b", {3, 0}}, {"c", {1, 0}}});
  EXPECT_EQ(box(picture, "b (3 of 10000, 0.0%)"), R"(x="1189.53" y="40" width="0.35" height="17")");
  EXPECT_EQ(box(picture, "c (1 of 10000, 0.0%)"), "");
  EXPECT_NE(picture.find("\nc 1 0\n"), picture.npos) << "a browser has it";
  const std::string least = drawn({{"a", {35391, 0}}, {"b", {9, 0}}}); // 0.3 pixels
  EXPECT_EQ(box(least, "b (9 of 35400, 0.0%)"), R"(x="1189.70" y="40" width="0.30" height="17")");
}

// A character takes 7 pixels; three are the fewest that are shown.
TEST(FlameGraph, TextsAreCutToTheirBoxes) {
  const std::string picture = drawn({{"abc", {1, 0}}, {"defg", {1, 0}}, {"z", {38, 0}}}); // 29.5 pixels each
  EXPECT_NE(picture.find(">abc</text>"), picture.npos);
  EXPECT_NE(picture.find(">d..</text>"), picture.npos);
  // 6 pixels of a box stay free: 27.4 are enough, 26.8 are not.
  EXPECT_NE(drawn({{"abc", {1, 0}}, {"z", {42, 0}}}).find(">abc</text>"), picture.npos);
  EXPECT_EQ(drawn({{"abc", {1, 0}}, {"z", {43, 0}}}).find(">abc</text>"), picture.npos);
}

TEST(FlameGraph, NamesAreNoMarkup) {
  const std::string picture = drawn({{"a<b>", {1, 0}}}, "<&>");
  EXPECT_NE(picture.find(">&lt;&amp;&gt;: 1 stacks</text>"), picture.npos);
  EXPECT_NE(picture.find("<title>a&lt;b&gt; (1 of 1, 100.0%)</title>"), picture.npos);
  EXPECT_NE(picture.find(">a&lt;b&gt;</text>"), picture.npos);
  EXPECT_NE(picture.find("\na&lt;b&gt; 1 0\n"), picture.npos);
}

// By FNV-1a, which its authors give as 0xe40c292c for "a" and 0xbf9cf968 for "foobar".
TEST(FlameGraph, ColoursDependOnNames) {
  const std::string picture = drawn({{"a", {1, 0}}, {"foobar", {1, 0}}});
  EXPECT_NE(picture.find("fill=\"rgb(225,121,0)\""), picture.npos);
  EXPECT_NE(picture.find("fill=\"rgb(225,201,32)\""), picture.npos);
}

} // namespace tool_flame_graph_test
