// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines and compilers of addresses in findings, from debug information that the test assembles.

#include "dwarf_assembler.h"

#include <sframe/elf/image.h>
#include <sframe/verify/names.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sframe::test {
namespace verify_source_test {

using namespace verify;
using dwarf::Dwarf;

/// A unit at [0x1000, 0x1100) with this producer, and lines as in dwarf::one_line().
TestElf with_lines(const char* producer = nullptr) {
  Dwarf unit;
  unit.offset(dwarf::stmt_list, 0);
  if (producer) unit.text(dwarf::producer, producer);
  TestElf elf = unit.build(62);
  elf.sections.push_back({".debug_line", elf::sht_progbits, 0, 0, dwarf::one_line()});
  return elf;
}

struct OpenNames {
  explicit OpenNames(const TestElf& elf)
      : bytes(elf.build()), image(*elf::Image::parse(bytes)), names({&image}) {}
  std::string line(std::uint64_t address) {
    const auto found = names.source({0, address});
    return found ? found->file + ":" + std::to_string(found->line) : "none";
  }
  std::vector<std::byte> bytes;
  elf::Image image;
  Names names;
};

TEST(VerifySource, LinesOfAddresses) {
  OpenNames open(with_lines());
  for (const std::uint64_t address : {0x1000, 0x10ff}) EXPECT_EQ(open.line(address), "/a.c:1") << address;
  for (const std::uint64_t address : {0xfff, 0x1100}) EXPECT_EQ(open.line(address), "none") << address;
  EXPECT_EQ(open.names.source_problem(), "");
  EXPECT_EQ(open.names.producer({0, 0x1000}), "");
  EXPECT_TRUE(open.names.producers(5).empty());
}

TEST(VerifySource, CompilersOfUnits) {
  OpenNames open(with_lines("GNU C17 12.2.0 -O2"));
  EXPECT_EQ(open.names.producer({0, 0x1000}), "GNU C17 12.2.0 -O2");
  EXPECT_EQ(open.names.producer({0, 0x1100}), "");
  EXPECT_EQ(open.names.producers(5), std::vector<std::string>{"GNU C17 12.2.0 -O2"});
  EXPECT_TRUE(open.names.producers(0).empty());
}

// What would cost far more than its size is not read (docs/dev/limits.md): attributes of one abbreviation,
// also of those that have no bytes.
TEST(VerifySource, LimitsOfAbbreviations) {
  const auto line = [](std::size_t attributes, std::size_t flags) {
    Dwarf unit;
    unit.offset(dwarf::stmt_list, 0).open(dwarf::variable);
    for (std::size_t i = 0; i < attributes + flags; ++i) {
      const auto attribute = static_cast<dwarf::Attribute>(0x2001 + i); // of vendors
      i < attributes ? unit.number(attribute, 0) : unit.flag(attribute);
    }
    TestElf elf = unit.build(62);
    elf.sections.push_back({".debug_line", elf::sht_progbits, 0, 0, dwarf::one_line()});
    OpenNames open(elf);
    const std::string found = open.line(0x1000);
    EXPECT_EQ(open.names.source_problem().empty(), found != "none");
    return found;
  };
  EXPECT_EQ(line(512, 0), "/a.c:1");
  EXPECT_EQ(line(448, 64), "/a.c:1");
  EXPECT_EQ(line(513, 0), "none");
  EXPECT_EQ(line(449, 64), "none");
  EXPECT_EQ(line(0, 65), "none");
}

// Sections that are empty or not in the file, and a table without the line.
TEST(VerifySource, WithoutLines) {
  TestElf elf = with_lines();
  elf.sections.back().bytes.clear();
  EXPECT_EQ(OpenNames(elf).line(0x1000), "none");
  elf = with_lines();
  elf.sections.back().type = elf::sht_nobits;
  EXPECT_EQ(OpenNames(elf).line(0x1000), "none");
  elf = with_lines();
  elf.sections.pop_back();
  OpenNames without(elf);
  EXPECT_EQ(without.line(0x1000), "none");
  EXPECT_EQ(without.names.producer({0, 0x1000}), "") << "read with the lines only";
}

} // namespace verify_source_test
} // namespace sframe::test
