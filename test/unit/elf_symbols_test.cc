// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols: lookup by address.

#include "elf_builder.h"
#include "sframe/base/budget.h"
#include "sframe/elf/file.h"
#include "sframe/elf/symbols.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <tuple>

namespace sframe::elf {
namespace elf_symbols_test {

using test::TestElf;
using test::Writer;

constexpr unsigned local_func = 0x02, global_func = 0x12, weak_func = 0x22, local_notype = 0x00,
                   global_object = 0x11;

struct Entry {
  const char* name;
  unsigned info;
  std::uint64_t address, size;
  std::uint16_t section = 1;
};

/// A file with .text at 0x1000 to 0x2000 and these symbols.
std::vector<std::byte> file_with(const std::vector<Entry>& entries, std::uint16_t type = et_dyn) {
  std::string names(1, '\0');
  Writer symbols;
  symbols.zeros(24);
  for (const Entry& entry : entries) {
    symbols.append(test::symbol(static_cast<std::uint32_t>(names.size()), entry.info, entry.section,
                                entry.address, entry.size));
    names += entry.name + std::string(1, '\0');
  }
  TestElf file{.type = type};
  const std::uint64_t text = type == et_rel ? 0 : 0x1000;
  file.sections.push_back(
      {".text", sht_progbits, shf_alloc | shf_execinstr, text, std::vector<std::byte>(0x1000)});
  file.sections.push_back({".text.b", sht_progbits, shf_alloc | shf_execinstr, text ? 0x3000u : 0u,
                           std::vector<std::byte>(0x100)});
  file.sections.push_back({".symtab", sht_symtab, 0, 0, symbols.bytes, 4, 1, 24});
  file.sections.push_back({".strtab", sht_strtab, 0, 0, Writer().text(names).bytes});
  return file.build();
}

std::string found(const SymbolTable& table, std::uint64_t address, std::uint32_t section = 0) {
  auto match = table.find(section, address);
  if (!match) return "-";
  EXPECT_EQ(match->offset, address - match->symbol->address);
  return std::string(match->symbol->name);
}

/// So many that they are not sorted by comparing.
TEST(ElfSymbols, ManyInTheOrderOfTheHeader) {
  std::mt19937 random(3);
  std::vector<Entry> entries;
  for (int i = 0; i < 4000; ++i) {
    const unsigned info = std::array{local_func, global_func, weak_func, local_notype}[random() % 4];
    entries.push_back({"f", info, random() % 0x100 * 0x10, random() % 2 * 0x10,
                       static_cast<std::uint16_t>(1 + random() % 2)});
    if (entries.back().section == 2) entries.back().address &= 0xff;
  }
  const auto bytes = file_with(entries, et_rel);
  auto image = Image::parse(bytes);
  ASSERT_TRUE(image);
  const SymbolTable table = SymbolTable::load(*image);
  EXPECT_EQ(table.symbols().size(), entries.size());
  EXPECT_TRUE(std::ranges::is_sorted(table.symbols(), {}, [](const Symbol& symbol) {
    const int binding = symbol.binding == 1 ? 0 : symbol.binding == 2 ? 1 : 2; // STB_GLOBAL, STB_WEAK
    return std::tuple(symbol.section, symbol.address, symbol.size == 0, !symbol.function(), binding);
  }));
}

TEST(ElfSymbols, NearestEnclosing) {
  const auto bytes = file_with({{"outer", global_func, 0x1000, 0x100},
                                {"inner", local_func, 0x1020, 0x10},
                                {"label", local_notype, 0x1040, 0},
                                {"after", global_func, 0x1200, 0x20},
                                {"open", local_notype, 0x1300, 0},
                                {"last", local_notype, 0x1f00, 0},
                                {"data", global_object, 0x1400, 8},
                                {"$x", local_notype, 0x1500, 0},
                                {"$d.7", local_notype, 0x1580, 0}, // of data, like $x of code
                                {"$xy", local_notype, 0x1600, 0},  // a name like any other
                                {"end", local_notype, 0x2000, 0}});
  auto image = Image::parse(bytes);
  ASSERT_TRUE(image);
  const SymbolTable table = SymbolTable::load(*image);
  EXPECT_FALSE(table.problem());
  EXPECT_EQ(found(table, 0xfff), "-");
  EXPECT_EQ(found(table, 0x1000), "outer");
  EXPECT_EQ(found(table, 0x101f), "outer");
  EXPECT_EQ(found(table, 0x1020), "inner");
  EXPECT_EQ(found(table, 0x102f), "inner");
  EXPECT_EQ(found(table, 0x1030), "outer"); // after the inner one, the outer one continues
  EXPECT_EQ(found(table, 0x1050), "outer"); // a label in a function that knows its size
  EXPECT_EQ(found(table, 0x10ff), "outer");
  EXPECT_EQ(found(table, 0x1100), "-");
  EXPECT_EQ(found(table, 0x121f), "after");
  EXPECT_EQ(found(table, 0x1220), "-");
  EXPECT_EQ(found(table, 0x15ff), "open"); // to the next symbol
  EXPECT_EQ(found(table, 0x1600), "$xy");
  EXPECT_EQ(found(table, 0x1fff), "last"); // to the section's end
  EXPECT_EQ(found(table, 0x2000), "-");
  ASSERT_EQ(table.at(0x1040).size(), 1u);
  EXPECT_EQ(table.at(0x1040)[0].name, "label");
}

TEST(ElfSymbols, AliasPreference) {
  const auto bytes = file_with({{"local", local_func, 0x1000, 0x40},
                                {"label", local_notype, 0x1000, 0},
                                {"weak", weak_func, 0x1000, 0x40},
                                {"global", global_func, 0x1000, 0x20},
                                {"", global_func, 0x1000, 0x40},
                                {"wraps", global_func, 0xffff'ffff'ffff'fff0, 0x40}});
  auto image = Image::parse(bytes);
  const SymbolTable table = SymbolTable::load(*image);
  EXPECT_EQ(found(table, 0x1000), "global");
  EXPECT_EQ(found(table, 0x101f), "global");
  EXPECT_EQ(found(table, 0x1020), "weak"); // reaches further
  EXPECT_EQ(found(table, 0x1040), "-");
  EXPECT_EQ(found(table, 0xffff'ffff'ffff'fffe), "wraps");
  std::vector<std::string_view> names;
  for (const Symbol& symbol : table.at(0x1000)) names.push_back(symbol.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"global", "weak", "local", "label"}));
}

TEST(ElfSymbols, ObjectsGoBySection) {
  const auto bytes = file_with(
      {{"a", global_func, 0, 0x10, 1}, {"b", global_func, 0, 0x20, 2}, {"c", local_notype, 0x20, 0, 2}},
      et_rel);
  auto image = Image::parse(bytes);
  const SymbolTable table = SymbolTable::load(*image);
  EXPECT_EQ(found(table, 0xf, 1), "a");
  EXPECT_EQ(found(table, 0x10, 1), "-");
  EXPECT_EQ(found(table, 0x10, 2), "b");
  EXPECT_EQ(found(table, 0xff, 2), "c");
  EXPECT_EQ(found(table, 0x100, 2), "-");
  EXPECT_EQ(found(table, 0, 0), "-");
}

extern "C" __attribute__((noinline)) int elf_symbols_test_landmark(int value) {
  return value * 3 + 1;
}

TEST(ElfSymbols, FindsAFunctionOfThisProgram) {
  auto file = File::open("/proc/self/exe");
  auto image = Image::parse(file->bytes());
  const SymbolTable table = SymbolTable::load(*image);
  ASSERT_EQ(elf_symbols_test_landmark(2), 7);
  auto by_name = std::ranges::find(table.symbols(), "elf_symbols_test_landmark", &Symbol::name);
  ASSERT_NE(by_name, table.symbols().end());
  ASSERT_GT(by_name->size, 0u);
  EXPECT_EQ(found(table, by_name->address + by_name->size - 1), "elf_symbols_test_landmark");
  // The code that the symbol names is the code that runs.
  auto code = image->read(by_name->address, by_name->size);
  ASSERT_TRUE(code);
  EXPECT_EQ(
      std::memcmp(code->data(), reinterpret_cast<const void*>(&elf_symbols_test_landmark), code->size()), 0);
}

} // namespace elf_symbols_test
} // namespace sframe::elf
