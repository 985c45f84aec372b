// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Valid and hostile contents of .gnu_debuglink, and the choice of the file, which programs' output shows in
// test/lit/verify/debug-file.test.

#include "elf_builder.h"

#include <gtest/gtest.h>

#include <sframe/files/debug_file.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace files_debug_file_test {

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
  const auto link = files::debug_link(*image);
  if (!link) return std::nullopt;
  return Link{std::string(link->name), link->crc};
}

TEST(FilesDebugFile, LinkIsNameAndChecksumPaddedToFour) {
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

TEST(FilesDebugFile, RefusesBadLinks) {
  EXPECT_FALSE(link_of({}));
  EXPECT_FALSE(link_of(Writer().text("abc").bytes));           // no end of the name
  EXPECT_FALSE(link_of(Writer().text("abc", 4).u16(1).bytes)); // half a checksum
  EXPECT_FALSE(link_of(Writer().text("", 4).u32(1).bytes));    // no name
  EXPECT_FALSE(link_of(Writer().text("a/b", 4).u32(1).bytes)); // a folder
  EXPECT_FALSE(link_of(Writer().text("..", 4).u32(1).bytes));
}

/// The link of a file with this one section, as "NAME ID"; empty if it has none.
std::string alternate_of(const char* section, const std::vector<std::byte>& contents,
                         ByteOrder order = ByteOrder::little) {
  TestElf file;
  file.order = order;
  file.sections.push_back({.name = section, .bytes = contents});
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto link = files::alternate_link(*image);
  return link ? link->name + ' ' + elf::to_hex(link->build_id) : std::string();
}

// dwz(1): the name, zero, the build ID up to the section's end.
TEST(FilesDebugFile, AlternateLinkOfDwz) {
  const auto link = [](std::string_view name, std::size_t size, std::uint64_t id, unsigned id_size) {
    return alternate_of(".gnu_debugaltlink", Writer().text(name, size).number(id, id_size).bytes);
  };
  EXPECT_EQ(link("/usr/lib/debug/.dwz/a", 22, 0x04030201, 4), "/usr/lib/debug/.dwz/a 01020304");
  EXPECT_EQ(link("a", 2, 0x7f, 1), "a 7f");
  EXPECT_EQ(link("", 1, 0x7f, 1), ""); // no name
  EXPECT_EQ(link("a", 2, 0, 0), "");   // no build ID
  EXPECT_EQ(link("abc", 3, 0, 0), ""); // no zero
  EXPECT_EQ(alternate_of(".gnu_debugaltlink", {}), "");
  EXPECT_EQ(alternate_of(".gnu_debugaltlinks", Writer().text("a", 2).number(1, 1).bytes), "");
  // 64 KiB are enough for a name.
  EXPECT_EQ(alternate_of(".gnu_debugaltlink", Writer().text("a", 2).zeros(1 << 16).bytes), "");
}

// DWARF 5, section 7.3.6: version (2 bytes), is_supplementary (1), name, size of the checksum (ULEB128),
// checksum.
TEST(FilesDebugFile, SupplementaryFileOfDwarf5) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto link = [&](unsigned version, unsigned supplementary, unsigned size, unsigned bytes) {
      Writer section(order);
      section.u16(static_cast<std::uint16_t>(version))
          .number(supplementary, 1)
          .text("sup", 4)
          .number(size, 1);
      for (unsigned i = 1; i <= bytes; ++i) section.number(i, 1);
      return alternate_of(".debug_sup", section.bytes, order);
    };
    EXPECT_EQ(link(5, 0, 4, 4), "sup 01020304");
    EXPECT_EQ(link(5, 0, 2, 4), "sup 0102"); // what follows is no part of it
    EXPECT_EQ(link(5, 1, 4, 4), "");         // this file is the supplementary one
    EXPECT_EQ(link(5, 0, 5, 4), "");
    EXPECT_EQ(link(5, 0, 0x84, 4), ""); // a longer number
    EXPECT_EQ(link(5, 0, 0, 0), "");
    EXPECT_EQ(link(4, 0, 4, 4), "");
    for (std::size_t size = 0; size < 7; ++size) {
      auto cut = Writer(order).u16(5).number(0, 1).text("sup", 4).number(1, 1).bytes;
      cut.resize(size);
      EXPECT_EQ(alternate_of(".debug_sup", cut, order), "") << size;
    }
  }
}

// A link names a file by its build ID or, for a supplementary file, by the checksum in that file's
// .debug_sup.
TEST(FilesDebugFile, AlternateFileHasTheStatedBuildId) {
  const auto is_linked = [](const files::AlternateLink& link, const char* section, const Writer& contents) {
    TestElf file;
    file.sections.push_back({.name = section, .bytes = contents.bytes});
    const auto bytes = file.build();
    const auto image = elf::Image::parse(bytes);
    EXPECT_TRUE(image);
    return files::is_linked(link, *image);
  };
  const files::AlternateLink link{"sup", {std::byte{1}, std::byte{2}}};
  const auto sup = [](unsigned supplementary, unsigned first) {
    Writer section;
    return section.u16(5).number(supplementary, 1).text("", 1).number(2, 1).number(first, 1).number(2, 1);
  };
  EXPECT_TRUE(is_linked(link, ".debug_sup", sup(1, 1)));
  EXPECT_FALSE(is_linked(link, ".debug_sup", sup(1, 9)));
  EXPECT_FALSE(is_linked(link, ".debug_sup", sup(0, 1))); // refers to another one itself
  EXPECT_FALSE(is_linked(link, ".debug_none", sup(1, 1)));
}

TEST(FilesDebugFile, NeedsLinkOrBuildId) {
  TestElf file;
  file.sections.push_back({.name = ".text"});
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  std::vector<files::Rejected> rejected;
  EXPECT_FALSE(files::find_debug_file(*image, "nowhere/file", {}, Limits::standard, &rejected));
  EXPECT_TRUE(rejected.empty());
}

/// CRC-32 as .gnu_debuglink has it: the reflected polynomial 0xedb88320, bit by bit.
std::uint32_t crc32(const std::vector<std::byte>& bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

/// Folders with files, and the search in them.
class FilesDebugFolders : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "sframe-debug-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = std::filesystem::canonical(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& path, const std::vector<std::byte>& bytes) {
    const std::filesystem::path whole = folder_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return whole;
  }

  /// The path of the debug file found for an image that was opened as bin/program; "" for none.
  std::string find(const std::vector<std::byte>& program) {
    const auto image = elf::Image::parse(program);
    EXPECT_TRUE(image);
    rejected_.clear();
    const std::string folders[] = {folder_ / "first", folder_ / "second"};
    const auto found =
        files::find_debug_file(*image, folder_ / "bin/program", folders, Limits::standard, &rejected_);
    return found ? std::filesystem::relative(found->path(), folder_).string() : "";
  }

  std::filesystem::path folder_;
  std::vector<files::Rejected> rejected_;
};

TestElf with_build_id(int id) {
  TestElf file;
  file.sections.push_back({.name = ".note.gnu.build-id",
                           .type = elf::sht_note,
                           .flags = elf::shf_alloc,
                           .bytes = sframe::test::note(
                               "GNU", 3, {std::byte{0xab}, std::byte{0xcd}, static_cast<std::byte>(id)})});
  return file;
}

// Below each folder in turn; a file with another ID, or for another machine, is none, and the search goes on.
TEST_F(FilesDebugFolders, ByBuildId) {
  const auto program = with_build_id(0xef).build();
  EXPECT_EQ(find(program), "");
  EXPECT_TRUE(rejected_.empty());
  const std::string name = "/.build-id/ab/cdef.debug";
  write("second" + name, program);
  EXPECT_EQ(find(program), "second" + name);
  EXPECT_TRUE(rejected_.empty());
  const std::string other = write("first" + name, with_build_id(0xee).build());
  EXPECT_EQ(find(program), "second" + name);
  ASSERT_EQ(rejected_.size(), 1u);
  EXPECT_EQ(rejected_[0].path, other);
  EXPECT_EQ(rejected_[0].why, "build ID mismatch: expected abcdef, file abcdee");
  TestElf machine = with_build_id(0xef), order = with_build_id(0xef);
  machine.machine = 183;
  order.order = ByteOrder::big;
  for (const TestElf& wrong : {machine, order}) {
    write("first" + name, wrong.build());
    EXPECT_EQ(find(program), "second" + name);
    ASSERT_EQ(rejected_.size(), 1u);
    EXPECT_EQ(rejected_[0].why, "wrong machine");
  }
  write("first" + name, program);
  EXPECT_EQ(find(program), "first" + name);
}

// In the image's folder, in .debug below it, and at its path below each folder.
TEST_F(FilesDebugFolders, ByLink) {
  TestElf debug;
  debug.sections.push_back({.name = ".debug_info", .bytes = Writer().text("debug").bytes});
  const auto bytes = debug.build();
  TestElf file;
  file.sections.push_back(
      {.name = ".gnu_debuglink", .bytes = Writer().text("program.debug", 16).u32(crc32(bytes)).bytes});
  const auto program = file.build();
  const std::string below = folder_.relative_path().string() + "/bin/program.debug";
  EXPECT_EQ(find(program), "");
  for (const std::string& place :
       {"second/" + below, "first/" + below, std::string("bin/.debug/program.debug"),
        std::string("bin/program.debug")}) {
    write(place, bytes);
    EXPECT_EQ(find(program), place);
    EXPECT_TRUE(rejected_.empty());
  }
  auto changed = bytes;
  changed.push_back(std::byte{});
  const std::string wrong = write("bin/program.debug", changed);
  EXPECT_EQ(find(program), "bin/.debug/program.debug");
  ASSERT_EQ(rejected_.size(), 1u);
  EXPECT_EQ(rejected_[0].path, wrong);
  EXPECT_EQ(rejected_[0].why.find("checksum mismatch: .gnu_debuglink 0x"), 0u);
}

} // namespace files_debug_file_test
