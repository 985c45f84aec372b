// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes with the name of a package (UAPI Group, "Package Metadata for Executable Files"), also damaged.

#include "elf_builder.h"

#include "sframe/elf/package_note.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sframe::test {
namespace elf_package_note_test {

constexpr std::uint32_t package_type = 0xcafe1a7e;
constexpr std::string_view hello = R"({"type":"deb","name":"hello","version":"2.10-3"})";

std::vector<std::byte> package(std::string_view json, std::string_view owner = "FDO",
                               std::uint32_t type = package_type) {
  return note(owner, type, Writer().text(json).zeros(1).bytes);
}

/// "type name version" of an image whose PT_NOTEs have these contents; "none".
std::string found(const std::vector<std::vector<std::byte>>& segments) {
  TestElf file;
  file.type = elf::et_dyn;
  std::uint64_t address = 0x1000;
  for (const auto& bytes : segments) {
    file.segments.push_back({elf::pt_load, elf::pf_r, address, bytes});
    file.segments.push_back({elf::pt_note, elf::pf_r, address, bytes});
    address += 0x2000;
  }
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto note = elf::package_note(*image);
  return note ? note->type + " " + note->name + " " + note->version : "none";
}

/// One note after another.
std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& notes) {
  Writer all;
  for (const auto& one : notes) all.append(one);
  return all.bytes;
}

TEST(ElfPackageNote, Fields) {
  EXPECT_EQ(found({package(hello)}), "deb hello 2.10-3");
  EXPECT_EQ(found({note("FDO", package_type, Writer().text(hello).bytes)}), "deb hello 2.10-3");
  EXPECT_EQ(found({package(R"({"name":"hello"})")}), " hello ");
  EXPECT_EQ(found({package(R"({"name":"hello","version":2})")}), " hello ");
  EXPECT_EQ(found({package(R"({"type":"deb","version":"1"})")}), "none");
  EXPECT_EQ(found({package(R"({"name":""})")}), "none");
  EXPECT_EQ(found({package(R"(["name"])")}), "none");
  EXPECT_EQ(found({package(R"({"name":"hello")")}), "none");
  EXPECT_EQ(found({package("")}), "none");
}

TEST(ElfPackageNote, OtherNotes) {
  EXPECT_EQ(found({package(hello, "GNU")}), "none");
  EXPECT_EQ(found({package(hello, "FDO", 3)}), "none");
  EXPECT_EQ(found({}), "none");
  EXPECT_EQ(found({joined({package(hello, "GNU"), package(hello, "FDO", 3), package(hello)})}),
            "deb hello 2.10-3");
  EXPECT_EQ(found({package(hello, "GNU"), package(hello)}), "deb hello 2.10-3");
}

/// As many notes as files have, and texts that a parser may be given.
TEST(ElfPackageNote, Limits) {
  for (const std::size_t before : {15, 16}) {
    const std::string expected = before == 15 ? "deb hello 2.10-3" : "none";
    std::vector<std::vector<std::byte>> notes(before, package("{}", "GNU"));
    notes.push_back(package(hello));
    EXPECT_EQ(found({joined(notes)}), expected);
    EXPECT_EQ(found(notes), expected) << "of segments";
  }
  for (const std::size_t size : {4096, 4097}) {
    std::string json(hello);
    json.append(size - json.size(), ' ');
    EXPECT_EQ(found({package(json)}), size == 4096 ? "deb hello 2.10-3" : "none");
  }
}

TEST(ElfPackageNote, DamagedNotes) {
  auto cut = package(hello);
  cut.resize(cut.size() - 8);
  EXPECT_EQ(found({cut}), "none");
  EXPECT_EQ(found({joined({package(hello, "GNU"), std::vector<std::byte>(11), package(hello)})}), "none");
  EXPECT_EQ(found({Writer().u32(0xffffffff).u32(4).u32(package_type).zeros(8).bytes, package(hello)}),
            "deb hello 2.10-3");
}

} // namespace elf_package_note_test
} // namespace sframe::test
