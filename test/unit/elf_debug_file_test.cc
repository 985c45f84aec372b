// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Valid and hostile contents of .gnu_debuglink. The choice of the file is tested in
// test/lit/verify/debug-file.test.

#include "elf_builder.h"

#include <gtest/gtest.h>

#include <sframe/elf/debug_file.h>

namespace {

using namespace sframe;
using sframe::test::TestElf;
using sframe::test::Writer;

struct Link {
  std::string name;
  std::uint32_t crc;
};

std::optional<Link> link_of(const std::vector<std::byte>& section, ByteOrder order = ByteOrder::little) {
  TestElf file;
  file.order = order;
  file.sections.push_back({.name = ".gnu_debuglink", .bytes = section});
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto link = elf::debug_link(*image);
  if (!link) return std::nullopt;
  return Link{std::string(link->name), link->crc};
}

TEST(ElfDebugFile, LinkIsNameAndChecksumPaddedToFour) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto three = link_of(Writer(order).text("abc", 4).u32(0x12345678).bytes, order);
    ASSERT_TRUE(three);
    EXPECT_EQ(three->name, "abc");
    EXPECT_EQ(three->crc, 0x12345678u);
    const auto four = link_of(Writer(order).text("abcd", 8).u32(0x9abcdef0).bytes, order);
    ASSERT_TRUE(four);
    EXPECT_EQ(four->name, "abcd");
    EXPECT_EQ(four->crc, 0x9abcdef0u);
  }
}

TEST(ElfDebugFile, RefusesBadLinks) {
  EXPECT_FALSE(link_of({}));
  EXPECT_FALSE(link_of(Writer().text("abc").bytes));           // no end of the name
  EXPECT_FALSE(link_of(Writer().text("abc", 4).u16(1).bytes)); // half a checksum
  EXPECT_FALSE(link_of(Writer().text("", 4).u32(1).bytes));    // no name
  EXPECT_FALSE(link_of(Writer().text("a/b", 4).u32(1).bytes)); // a folder
  EXPECT_FALSE(link_of(Writer().text("..", 4).u32(1).bytes));
}

TEST(ElfDebugFile, NeedsLinkOrBuildId) {
  TestElf file;
  file.sections.push_back({.name = ".text"});
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  std::vector<elf::Rejected> rejected;
  EXPECT_FALSE(elf::find_debug_file(*image, "nowhere/file", {}, &rejected));
  EXPECT_TRUE(rejected.empty());
}

} // namespace
