// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocations of .sframe in objects (S018 in docs/findings.md): each function's start has one, of its size
// and relative to the place; nothing else has any. Types are those of the System V ABI for AMD64.

#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/section.h>
#include <sframe/verify/structure.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sframe::test {
namespace verify_relocations_test {

using namespace verify;

constexpr std::uint32_t none = 0, absolute_64 = 1, pc_32 = 2, pc_64 = 24;
constexpr std::uint32_t no_symbol = 0, text_symbol = 1, undefined_symbol = 2;

struct Relocation {
  std::uint64_t offset;
  std::uint32_t type;
  std::uint32_t symbol = text_symbol;
};

class VerifyRelocations : public testing::Test, public Sink {
protected:
  VerifyRelocations() {
    Builder builder({.abi = Abi::amd64});
    for (const std::uint64_t start : {0x1000, 0x1010, 0x1020})
      EXPECT_TRUE(builder.add({.start = start, .size = 16}, std::vector{traits(Abi::amd64).entry_row()}));
    section_ = *builder.finish(0x2000);
    const auto section = Section::parse(section_, 0);
    EXPECT_TRUE(section);
    first_ = section->index_offset();
    apart_ = section->version().entry_size;
    right_ = section->version().start_size == 8 ? pc_64 : pc_32;
    wrong_ = right_ == pc_64 ? pc_32 : pc_64;
  }

  void add(Finding finding) override {
    if (finding.id == Id::S018)
      found_ += "at " + std::to_string(finding.offset.value_or(~std::uint64_t{0}) - first_) + ": " +
                finding.message + "\n";
  }

  /// The place of a function's start.
  std::uint64_t start(std::uint64_t function) const { return first_ + function * apart_; }

  /// The findings; offsets are from the first function's entry on.
  std::string findings(const std::vector<Relocation>& relocations) {
    Writer table, symbols;
    for (const Relocation& one : relocations)
      table.u64(one.offset).u32(one.type).u32(one.symbol).u64((one.offset - first_) / apart_ * 16);
    symbols.zeros(24).append(symbol(0, 3, 1, 0, 0)).append(symbol(1, 0x10, 0, 0, 0));
    TestElf file;
    const std::vector<std::byte> text(0x30, std::byte{0x90});
    file.sections = {{".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0, text},
                     {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, 0, section_},
                     {".rela.sframe", 4, 0x40, 0, table.bytes, 4, 2, 24},
                     {".symtab", elf::sht_symtab, 0, 0, symbols.bytes, 5, 2, 24},
                     {".strtab", elf::sht_strtab, 0, 0, Writer().zeros(1).text("callee", 7).bytes}};
    const auto bytes = file.build();
    const auto image = elf::Image::parse(bytes);
    EXPECT_TRUE(image);
    const auto input = Input::load({.image = &*image});
    EXPECT_TRUE(input) << (input ? "" : input.error().text());
    found_.clear();
    if (input) check_structure(*input, *this);
    return found_;
  }

  std::vector<std::byte> section_;
  std::uint64_t first_ = 0, apart_ = 0;
  std::uint32_t right_ = 0, wrong_ = 0;
  std::string found_;
};

TEST_F(VerifyRelocations, OneForEachFunction) {
  EXPECT_EQ(findings({{start(0), right_}, {start(1), right_}, {start(2), right_}}), "");
  EXPECT_EQ(findings({{start(2), right_}, {start(0), right_}, {start(1), right_}}), "") << "in any order";
  EXPECT_EQ(
      findings({{start(0), right_}, {start(1), right_}, {start(2), right_}, {start(1), none}, {0, none}}),
      "");
}

TEST_F(VerifyRelocations, Missing) {
  const std::string of_three = " of 3 functions have no relocation on their start; the first is function ";
  EXPECT_EQ(findings({{start(0), right_}, {start(2), right_}}),
            "at " + std::to_string(apart_) + ": 1" + of_three + "1\n");
  EXPECT_EQ(findings({{start(1), right_}}), "at 0: 2" + of_three + "0\n");
}

TEST_F(VerifyRelocations, Unexpected) {
  const auto all = [&](std::uint64_t offset) {
    return findings({{start(0), right_}, {start(1), right_}, {start(2), right_}, {offset, right_}});
  };
  const auto at = [&](std::uint64_t offset) {
    return "at " + std::to_string(offset - first_) +
           ": relocation is not on a function's start, or is the second one there\n";
  };
  for (const std::uint64_t offset : {start(1), start(1) + 1, start(0) + apart_ - 1, start(3)})
    EXPECT_EQ(all(offset), at(offset)) << offset;
  EXPECT_TRUE(all(0).starts_with(at(0))) << "of the header, which it damages";
}

TEST_F(VerifyRelocations, OfAnotherKind) {
  const std::string size = right_ == pc_64 ? "8" : "4";
  const auto second = [&](std::uint32_t type, std::uint32_t symbol = text_symbol) {
    const std::string found = findings({{start(0), right_}, {start(1), type, symbol}, {start(2), right_}});
    const std::string place = "at " + std::to_string(apart_) + ": function 1: ";
    EXPECT_TRUE(found.starts_with(place)) << found;
    return found.substr(std::min(place.size(), found.size()));
  };
  for (const std::uint32_t type : {wrong_, absolute_64})
    EXPECT_EQ(second(type), "relocation of type " + std::to_string(type) +
                                " on the start, but a PC-relative one of " + size + " bytes is needed\n");
  EXPECT_EQ(findings({{start(0), right_}, {start(1), 200}, {start(2), right_}}),
            "at " + std::to_string(apart_) + ": unsupported relocation type 200\n");
  EXPECT_EQ(second(right_, undefined_symbol),
            "the relocation refers to callee, which is not defined in this file\n");
  EXPECT_EQ(second(right_, no_symbol),
            "the relocation refers to no symbol, which is not defined in this file\n");
}

} // namespace verify_relocations_test
} // namespace sframe::test
