// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols: which one an address belongs to.

#include "elf_builder.h"
#include "sframe/elf/file.h"
#include "sframe/elf/symbols.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>

namespace sframe::elf {
namespace {

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

TEST(ElfSymbols, NearestEnclosing) {
  const auto bytes = file_with({{"outer", global_func, 0x1000, 0x100},
                                {"inner", local_func, 0x1020, 0x10},
                                {"label", local_notype, 0x1040, 0},
                                {"after", global_func, 0x1200, 0x20},
                                {"open", local_notype, 0x1300, 0},
                                {"last", local_notype, 0x1f00, 0},
                                {"data", global_object, 0x1400, 8},
                                {"$x", local_notype, 0x1500, 0},
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
  EXPECT_EQ(found(table, 0x1030), "outer"); // behind the inner one, the outer one goes on
  EXPECT_EQ(found(table, 0x1050), "outer"); // a label in a function that knows its size
  EXPECT_EQ(found(table, 0x10ff), "outer");
  EXPECT_EQ(found(table, 0x1100), "-");
  EXPECT_EQ(found(table, 0x121f), "after");
  EXPECT_EQ(found(table, 0x1220), "-");
  EXPECT_EQ(found(table, 0x1eff), "open"); // to the next symbol
  EXPECT_EQ(found(table, 0x1fff), "last"); // to the section's end
  EXPECT_EQ(found(table, 0x2000), "-");
  ASSERT_EQ(table.at(0x1040).size(), 1u);
  EXPECT_EQ(table.at(0x1040)[0].name, "label");
}

TEST(ElfSymbols, PrefersAmongAliases) {
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

TEST(ElfSymbols, Demangles) {
  EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

/// Expected: what c++filt of GNU binutils 2.40 prints, without the hash.
TEST(ElfSymbols, DemanglesLegacyRust) {
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(demangle("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
                     "4drop17hf5a04b9dd36b2c4eE"),
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
  EXPECT_EQ(demangle("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h5f3ae7b2c1d90e48E"),
            "std::rt::lang_start::{{closure}}");
  EXPECT_EQ(demangle("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h5f3ae7b2c1d90e48E.llvm.123456"),
            "std::rt::lang_start::{{closure}}");
  EXPECT_EQ(demangle("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$.."
                     "$u7b$$u7b$closure$u7d$$u7d$$GT$17h5f3ae7b2c1d90e48E"),
            "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
  // As LLVM writes it for C++: the suffix stays.
  EXPECT_EQ(demangle("_ZN1a1b17h5f3ae7b2c1d90e48E.cold"), "a::b (.cold)");
  // No hash: C++. Cut off, or escapes of nothing: no crash, and nothing made up.
  EXPECT_EQ(demangle("_ZN1a1b17h5f3ae7b2c1d90e4gE"), "a::b::h5f3ae7b2c1d90e4g");
  EXPECT_EQ(demangle("_ZN1a17h5f3ae7b2c1d90e48"), "_ZN1a17h5f3ae7b2c1d90e48");
  EXPECT_EQ(demangle("_ZN99999999999999999999a17h5f3ae7b2c1d90e48E"),
            "_ZN99999999999999999999a17h5f3ae7b2c1d90e48E");
  EXPECT_EQ(demangle("_ZN5$uzz$17h5f3ae7b2c1d90e48E"), "$uzz$");
  EXPECT_EQ(demangle("_ZN4$u7$17h5f3ae7b2c1d90e48E"), "$u7$"); // a control character
}

TEST(ElfSymbols, DemanglesWithoutVersion) {
  EXPECT_EQ(demangle("__libc_start_main@@GLIBC_2.34"), "__libc_start_main");
  EXPECT_EQ(demangle("memcpy@GLIBC_2.2.5"), "memcpy");
  EXPECT_EQ(demangle("_ZN3foo3barEi@@V_1.0"), "foo::bar(int)");
  EXPECT_EQ(demangle("foo@plt"), "foo@plt");
  for (const char* name : {"@", "@@", "a@", "a@@", "@a", "a@b c"}) EXPECT_EQ(demangle(name), name);
}

TEST(ElfSymbols, DemanglesHostileNamesInBounds) {
  // Deep nesting: a pointer to a pointer to ...
  const std::string deep = "_Z1f" + std::string(60000, 'P') + "i";
  EXPECT_FALSE(demangle(deep).empty());
  // Doubling: each argument is a pair of the one before, so 60 short arguments would print 2^60 names.
  std::string doubling = "_Z1fI";
  doubling += "1aIiiE";
  for (int i = 0; i < 60; ++i) {
    std::string substitution = "S";
    for (int digits = i; digits > 0; digits = 0)
      substitution += static_cast<char>(digits < 10 ? '0' + digits : 'A' + digits - 10);
    substitution += "_";
    doubling += "1aI" + substitution + substitution + "E";
  }
  doubling += "Evv";
  EXPECT_LT(demangle(doubling).size(), 10'000'000u);
  // The same through template arguments of one name: each pair is made of the pair before, twice.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string pairs = "_Z1fSt4pairIiiE";
  for (std::size_t i = 0; i < 34; ++i) {
    const std::string before = std::string("S") + digits[i] + "_";
    pairs += "S_I" + before + before + "E";
  }
  EXPECT_LT(demangle(pairs).size(), 10'000'000u);
}

} // namespace
} // namespace sframe::elf
