// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of generated code in maps.

#include "sframe/languages/perf_map.h"

#include <gtest/gtest.h>

namespace sframe::languages {
namespace languages_perf_map_test {

constexpr std::string_view text = "1000 10 first\n"
                                  "0x2000 0x8 LazyCompile:~handle /srv/app.js:3:9\n"
                                  "not a line\n"
                                  "3000 zz wrong\n"
                                  "3000\n"
                                  "2000 20 *handle  \n"
                                  "fffffffffffffff0 ffff last";

TEST(LanguagesPerfMap, FindsTheFunctionOfAnAddress) {
  const PerfMap map = PerfMap::parse(text);
  EXPECT_FALSE(map.find(0xfff, 0xfff));
  EXPECT_EQ(map.find(0x1000, 0x1000)->name, "first");
  const auto called = map.find(0x100f, 0x1010);
  ASSERT_TRUE(called);
  EXPECT_EQ(called->name, "first");
  EXPECT_EQ(called->offset, 0x10u);
  EXPECT_FALSE(map.find(0x1010, 0x1010));
  EXPECT_FALSE(map.find(0x3000, 0x3000));
}

TEST(LanguagesPerfMap, TheLastLineOfAnAddressCounts) {
  const auto function = PerfMap::parse(text).find(0x201f, 0x201f);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "*handle  ");
}

TEST(LanguagesPerfMap, SizesMayLeadPastTheTop) {
  const PerfMap map = PerfMap::parse(text);
  EXPECT_EQ(map.find(0xffffffffffffffff, 0xffffffffffffffff)->name, "last");
  EXPECT_FALSE(map.find(0, 0));
}

TEST(LanguagesPerfMap, EmptyTextsHaveNothing) {
  EXPECT_FALSE(PerfMap::parse("").find(0, 0));
  EXPECT_FALSE(PerfMap::parse("\n\n10 10").find(0x10, 0x10));
  EXPECT_FALSE(PerfMap::read("/nowhere/perf-1.map"));
}

} // namespace languages_perf_map_test
} // namespace sframe::languages
