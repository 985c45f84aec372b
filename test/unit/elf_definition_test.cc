// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A symbol by its name: in which table, and what is not its definition (ELF specification, "Symbol Table").

#include "elf_builder.h"

#include "sframe/elf/symbols.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <vector>

namespace sframe::test {
namespace elf_definition_test {

constexpr unsigned object = 0x11, tls = 0x16;
constexpr std::uint16_t undefined = 0;

struct Entry {
  std::string_view name;
  std::uint64_t value;
  unsigned info = object;
  std::uint16_t section = 1;
};

/// A file with .dynsym and .symtab, in the byte order; tables without entries are left out.
std::vector<std::byte> file_with(const std::vector<Entry>& dynamic, const std::vector<Entry>& all,
                                 ByteOrder order = ByteOrder::little) {
  TestElf file;
  file.order = order;
  file.type = elf::et_dyn;
  file.sections.push_back({".data", elf::sht_progbits, elf::shf_alloc, 0x1000, std::vector<std::byte>(64)});
  const auto add = [&](const char* name, std::uint32_t type, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    Writer table(order), names;
    table.zeros(24);
    names.zeros(1);
    for (const Entry& entry : entries) {
      const auto at = static_cast<std::uint32_t>(names.bytes.size());
      table.append(symbol(at, entry.info, entry.section, entry.value, 8, order));
      names.text(entry.name, entry.name.size() + 1);
    }
    const auto link = static_cast<std::uint32_t>(file.sections.size() + 2);
    file.sections.push_back({name, type, 0, 0, table.bytes, link, 1, 24});
    file.sections.push_back({".strtab", elf::sht_strtab, 0, 0, names.bytes});
  };
  add(".dynsym", elf::sht_dynsym, dynamic);
  add(".symtab", elf::sht_symtab, all);
  return file.build();
}

std::optional<std::uint64_t> find(const std::vector<std::byte>& bytes, std::string_view name) {
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  return elf::find_definition(*image, name);
}

TEST(ElfDefinition, OfEitherTable) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto bytes = file_with({{"a", 0x1008}, {"both", 0x1010}}, {{"b", 0x1018}, {"both", 0x1020}}, order);
    EXPECT_EQ(find(bytes, "a"), 0x1008u);
    EXPECT_EQ(find(bytes, "b"), 0x1018u);
    EXPECT_EQ(find(bytes, "both"), 0x1010u);
    EXPECT_EQ(find(bytes, "c"), std::nullopt);
  }
  EXPECT_EQ(find(file_with({}, {{"b", 0x1018}}), "b"), 0x1018u);
  EXPECT_EQ(find(file_with({}, {}), "b"), std::nullopt);
}

TEST(ElfDefinition, WhatIsNone) {
  const auto bytes = file_with({{"needed", 0, object, undefined}, {"local", 8, tls}, {"abcd", 0x1008}},
                               {{"needed", 0x1010}, {"abc", 0x1018, object, undefined}});
  EXPECT_EQ(find(bytes, "needed"), 0x1010u);
  EXPECT_EQ(find(bytes, "local"), std::nullopt);
  // Parts of a name in the string table.
  for (const char* const name : {"abc", "bcd", "bc"}) EXPECT_EQ(find(bytes, name), std::nullopt) << name;
  EXPECT_EQ(find(bytes, "abcd"), 0x1008u);
}

TEST(ElfDefinition, DamagedTables) {
  auto bytes = file_with({{"a", 0x1008}}, {});
  // The section headers are at the end: null, .data, .dynsym, .strtab, .shstrtab.
  const std::size_t header = bytes.size() - 3 * 64, link = header + 40;
  ASSERT_EQ(find(bytes, "a"), 0x1008u);
  for (const int other : {0, 1, 2, 5, 255}) {
    bytes[link] = std::byte(other);
    EXPECT_EQ(find(bytes, "a"), std::nullopt) << other;
  }
}

} // namespace elf_definition_test
} // namespace sframe::test
