// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of a flame graph: the place, the width and the text of each box, worked out by hand from the
// counts of folded stacks. 98.4 per cent of the width are for all stacks, .8 on each side, and 18 pixels for
// each row; 10 below them, 40 above for the title.

#include "sframe/profile/flame_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace profile_flame_graph_test {

using sframe::profile::StackCount;
using Counts = std::map<std::string, StackCount>;

std::string drawn(const Counts& counts, sframe::profile::FlameGraphHeading heading = {"title"}) {
  std::string out;
  sframe::profile::draw_flame_graph(counts, heading, [&](std::string_view text) { out += text; });
  return out;
}

/// What the picture has from `begin` to the next `end`; empty if it has no `begin`.
std::string part(const std::string& picture, const std::string& begin, std::string_view end) {
  const std::size_t at = picture.find(begin);
  return at == picture.npos ? std::string() : picture.substr(at, picture.find(end, at) - at);
}

/// The place and size of the box with this title.
std::string box(const std::string& picture, const std::string& title) {
  const std::string all = part(picture, "<title>" + title + "</title>", "</g>");
  return part(all, "x=", ">");
}

TEST(FlameGraph, BoxesByDepthAndCount) {
  const std::string picture = drawn({{"t;main;a", {3, 0}}, {"t;main;b", {1, 1}}, {"t;z", {4, 0}}});
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"100%\" "
                                  "height=\"104\" font-family"));
  EXPECT_NE(picture.find(">title: 8 stacks</text>"), picture.npos);
  // 12.3 per cent for a stack.
  EXPECT_EQ(box(picture, "t (8 of 8, 100.0%)"), R"(x="0.800%" y="76" width="98.400%" height="17")");
  EXPECT_EQ(box(picture, "main (4 of 8, 50.0%)"), R"(x="0.800%" y="58" width="49.200%" height="17")");
  EXPECT_EQ(box(picture, "a (3 of 8, 37.5%)"), R"(x="0.800%" y="40" width="36.900%" height="17")");
  EXPECT_EQ(box(picture, "b (1 of 8, 12.5%)"), R"(x="37.700%" y="40" width="12.300%" height="17")");
  EXPECT_EQ(box(picture, "z (4 of 8, 50.0%)"), R"(x="50.000%" y="58" width="49.200%" height="17")");
  EXPECT_NE(picture.find("<text x=\"3\" y=\"13\">b</text>"), picture.npos);
  EXPECT_NE(picture.find("id=\"stacks\">\nt;main;a 3 0\nt;main;b 1 1\nt;z 4 0\n</script>"), picture.npos);
}

// Functions of the same name share a box only where their callers do. 9.84 per cent for a stack.
TEST(FlameGraph, BoxesBelongToTheirCallers) {
  const std::string picture = drawn({{"t", {1, 0}},
                                     {"t;a", {1, 0}},
                                     {"t;a;x", {2, 0}},
                                     {"t;b", {1, 0}},
                                     {"t;b;x", {3, 0}},
                                     {"u;b", {2, 0}}});
  EXPECT_EQ(box(picture, "t (8 of 10, 80.0%)"), R"(x="0.800%" y="76" width="78.720%" height="17")");
  EXPECT_EQ(box(picture, "a (3 of 10, 30.0%)"), R"(x="10.640%" y="58" width="29.520%" height="17")");
  EXPECT_EQ(box(picture, "x (2 of 10, 20.0%)"), R"(x="20.480%" y="40" width="19.680%" height="17")");
  EXPECT_EQ(box(picture, "b (4 of 10, 40.0%)"), R"(x="40.160%" y="58" width="39.360%" height="17")");
  EXPECT_EQ(box(picture, "x (3 of 10, 30.0%)"), R"(x="50.000%" y="40" width="29.520%" height="17")");
  EXPECT_EQ(box(picture, "u (2 of 10, 20.0%)"), R"(x="79.520%" y="76" width="19.680%" height="17")");
  EXPECT_EQ(box(picture, "b (2 of 10, 20.0%)"), R"(x="79.520%" y="58" width="19.680%" height="17")");
}

// .025 per cent are the least.
TEST(FlameGraph, NarrowBoxesAreLeftOut) {
  const std::string picture = drawn({{"a", {9996, 0}}, {"b", {3, 0}}, {"c", {1, 0}}});
  EXPECT_EQ(box(picture, "b (3 of 10000, 0.0%)"), R"(x="99.161%" y="40" width="0.030%" height="17")");
  EXPECT_EQ(box(picture, "c (1 of 10000, 0.0%)"), "");
  EXPECT_NE(picture.find("\nc 1 0\n"), picture.npos) << "a browser has it";
  EXPECT_NE(box(drawn({{"a", {39290, 0}}, {"b", {10, 0}}}), "b (10 of 39300, 0.0%)"), "");
  EXPECT_EQ(box(drawn({{"a", {39490, 0}}, {"b", {10, 0}}}), "b (10 of 39500, 0.0%)"), "");
}

// The box cuts its text off. Where there is no room for three characters, there is none: below 2.3 per cent.
TEST(FlameGraph, TextsNeedRoom) {
  EXPECT_NE(drawn({{"abcdefghijklmnop", {1, 0}}, {"z", {41, 0}}}).find(">abcdefghijklmnop</text>"),
            std::string::npos);
  EXPECT_EQ(drawn({{"abc", {1, 0}}, {"z", {42, 0}}}).find(">abc</text>"), std::string::npos);
}

// A stack is of one thread in one sample.
TEST(FlameGraph, StacksAndSamples) {
  const std::string picture = drawn({{"a", {3, 0}}, {"b", {3, 0}}}, {"server", 3});
  EXPECT_NE(picture.find("data-name=\"server\" data-samples=\"3\">server: 6 stacks in 3 samples</text>"),
            picture.npos);
  EXPECT_NE(drawn({{"a", {1, 0}}}, {"server", 1}).find(">server: 1 stack in 1 sample</text>"), picture.npos);
}

TEST(FlameGraph, NamesAreNoMarkup) {
  const std::string picture = drawn({{"a<b>", {1, 0}}}, {"<&>"});
  EXPECT_NE(picture.find(">&lt;&amp;&gt;: 1 stack</text>"), picture.npos);
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

} // namespace profile_flame_graph_test
