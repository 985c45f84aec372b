// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of generated code in maps.

#include "sframe/languages/perf_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

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

TEST(LanguagesPerfMap, ReadsFilesUpToALimit) {
  const std::string path = testing::TempDir() + "perf-" + std::to_string(::getpid()) + ".map";
  std::ofstream(path) << text;
  const auto map = PerfMap::read(path);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->find(0x1000, 0x1000)->name, "first");
  ASSERT_EQ(::truncate(path.c_str(), (256 << 20) + 1), 0);
  const auto large = PerfMap::read(path);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().what, "map of generated code is larger than 256 MiB");
  std::filesystem::remove(path);
}

TEST(LanguagesPerfMap, KeepsWhatIsWanted) {
  std::string lines;
  std::uint64_t seed = 1;
  const auto random = [&](std::uint64_t below) { return (seed = seed * 48271 % 0x7fffffff) % below; };
  for (int i = 0; i < 300; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%llx %llx f%d\n", static_cast<unsigned long long>(random(200)),
                  static_cast<unsigned long long>(random(40)), i);
    lines += line;
    const PerfMap all = PerfMap::parse(lines);
    std::vector<std::uint64_t> wanted = {random(240), random(240), random(240)};
    std::ranges::sort(wanted);
    const PerfMap some = PerfMap::parse(lines, wanted);
    for (const std::uint64_t address : wanted) {
      const auto expected = all.find(address, address), found = some.find(address, address);
      ASSERT_EQ(expected.has_value(), found.has_value()) << lines << address;
      if (!found) continue;
      EXPECT_EQ(expected->name, found->name) << lines << address;
    }
  }
  EXPECT_FALSE(PerfMap::parse(text, {}).find(0x1000, 0x1000));
}

TEST(LanguagesPerfMap, LinesThatAreCut) {
  for (const char* const line : {"1000", "1000 ", "1000 10", "1000 1g f", "1000-10 f", "1000 10x f"})
    EXPECT_FALSE(PerfMap::parse(line).find(0x1000, 0x1000)) << line;
  EXPECT_EQ(PerfMap::parse("1000 10 ").find(0x1000, 0x1000)->name, "");
  EXPECT_EQ(PerfMap::parse("1000 10 f\n\n2000 1 g\n").find(0x2000, 0x2000)->name, "g");
}

} // namespace languages_perf_map_test
} // namespace sframe::languages
