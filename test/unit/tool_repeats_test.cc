// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which frames of a recursion are left out: those that repeat a cycle of up to 8 functions, except for the
// first six, and for two rounds of a longer cycle.

#include "../../tools/sframe-unwind/repeats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tool_repeats_test {

using Repeats = sframe::unwind_tool::RepeatedFrames<char>;

/// The stack as printed: what is left out as "(FIRST-LAST xCOUNT)".
std::string folded(std::string_view stack) {
  Repeats repeats;
  std::string text;
  const auto flush = [&] {
    const auto [first, last, count] = repeats.take();
    if (count != 0)
      text += "(" + std::to_string(first) + "-" + std::to_string(last) + " x" + std::to_string(count) + ")";
  };
  for (std::uint32_t number = 0; number < stack.size(); ++number) {
    if (repeats.add(number, stack[number])) continue;
    flush();
    text += stack[number];
  }
  flush();
  return text;
}

std::string times(std::string_view cycle, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += cycle;
  return text;
}

TEST(RepeatedFrames, FirstSixAreShown) {
  EXPECT_EQ(folded(times("a", 7)), "aaaaaaa");
  EXPECT_EQ(folded(times("a", 8)), "aaaaaaa(6-6 x1)");
  EXPECT_EQ(folded("x" + times("a", 100) + "y"), "xaaaaaaa(7-7 x93)y");
}

TEST(RepeatedFrames, Cycles) {
  EXPECT_EQ(folded(times("ab", 50)), "abababab(6-7 x92)");
  EXPECT_EQ(folded(times("abc", 50)), "abcabcabc(6-8 x141)");
  EXPECT_EQ(folded(times("abcd", 50)), "abcdabcdabcd(8-11 x188)") << "two rounds that repeat the first";
  EXPECT_EQ(folded(times("abcdefgh", 5)), times("abcdefgh", 3) + "(16-23 x16)");
  EXPECT_EQ(folded(times("abcdefghi", 5)), times("abcdefghi", 5)) << "too long";
}

TEST(RepeatedFrames, SeveralRecursionsInAStack) {
  EXPECT_EQ(folded(times("a", 20) + "xy" + times("ab", 10)), "aaaaaaa(6-6 x13)xyabababab(28-29 x12)");
  EXPECT_EQ(folded(times("ab", 10) + times("a", 20)), "abababab(6-7 x13)aaaaaa(26-26 x13)");
}

TEST(RepeatedFrames, StacksAreApart) {
  Repeats repeats;
  for (std::uint32_t number = 0; number < 7; ++number) EXPECT_FALSE(repeats.add(number, 'a'));
  for (std::uint32_t number = 0; number < 7; ++number) EXPECT_FALSE(repeats.add(number, 'a'));
  EXPECT_TRUE(repeats.add(7, 'a'));
  EXPECT_EQ(repeats.take().count, 1u);
  EXPECT_EQ(repeats.take().count, 0u) << "taken";
}

} // namespace tool_repeats_test
