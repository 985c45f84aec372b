// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's DWARF reader is given: files whose claims are checked first. Sizes are limited by formulas in
// llvm_input.h and .cc; the compressed section is zlib's (an Elf64_Chdr in front: type 1, size, alignment).

#include "elf_builder.h"
#include "inputs.h"

#include <sframe/elf/llvm_input.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sframe::elf {
namespace elf_llvm_input_test {

using Bytes = std::vector<std::byte>;
using test::TestElf;
using test::Writer;

/// A compressed section that claims a size.
Bytes compressed(std::uint64_t claimed, ByteOrder order = ByteOrder::little) {
  return Writer(order)
      .u32(1)
      .u32(0)
      .u64(claimed)
      .u64(1)
      .append(test::hex("78 9c 2b 4e 2b 4a cc 4d 2d 1e 52 24 00 74 62 4a c5"))
      .bytes;
}

TEST(ElfLlvmInput, DebugSectionsAlone) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    TestElf file{.order = order};
    file.sections = {{".text", sht_progbits, shf_alloc | shf_execinstr, 0x1000, Bytes(16)},
                     {".debug_info", sht_progbits, 0, 0, Writer().text("information").bytes},
                     {".debug_str", sht_progbits, shf_compressed, 0, compressed(180, order)},
                     {".comment", sht_progbits, shf_compressed, 0, compressed(180, order)},
                     {".debug_line", sht_progbits, 0, 0, Writer().text("lines").bytes}};
    const Bytes bytes = file.build();
    const auto image = Image::parse(bytes);
    ASSERT_TRUE(image);
    EXPECT_TRUE(has_compressed_sections(*image));
    EXPECT_TRUE(is_fit_for_llvm_dwarf(*image));
    const auto made = without_compression(*image, false);
    ASSERT_TRUE(made) << made.error().text();
    const auto after = Image::parse(*made);
    ASSERT_TRUE(after) << after.error().text();
    EXPECT_FALSE(has_compressed_sections(*after));
    EXPECT_EQ(after->machine(), image->machine());
    EXPECT_EQ(after->byte_order(), order);
    const auto text = [&](const char* name) {
      const SectionHeader* section = after->find_section(name);
      EXPECT_TRUE(section) << name;
      const auto contents = section ? after->contents(*section) : Result<Contents>(Contents());
      EXPECT_TRUE(contents);
      return std::string(reinterpret_cast<const char*>(contents->bytes().data()), contents->bytes().size());
    };
    EXPECT_EQ(text(".debug_info"), "information");
    EXPECT_EQ(text(".debug_line"), "lines");
    std::string thirty;
    for (int i = 0; i < 30; ++i) thirty += "sframe";
    EXPECT_EQ(text(".debug_str"), thirty);
    EXPECT_FALSE(after->find_section(".text"));
    EXPECT_FALSE(after->find_section(".comment"));
    EXPECT_EQ(after->sections().size(), 5u); // none, the three, and their names
  }
}

constexpr std::string_view implausible = "implausible decompressed size: no source lines";

// 2 MiB and eight times the file; for all debug sections together.
TEST(ElfLlvmInput, SizesAreLimited) {
  TestElf file;
  file.sections = {{".debug_info", sht_progbits, 0, 0, Bytes(100)},
                   {".debug_str", sht_progbits, shf_compressed, 0, {}},
                   {".debug_line", sht_progbits, 0, 0, Bytes(50)}};
  const auto is_implausible = [&](std::uint64_t claimed, bool unlimited = false) {
    file.sections[1].bytes = compressed(claimed);
    const Bytes bytes = file.build();
    const auto made = without_compression(*Image::parse(bytes), unlimited);
    return !made && made.error().what == implausible;
  };
  file.sections[1].bytes = compressed(0);
  const std::uint64_t most = (2 << 20) + 8 * file.build().size();
  EXPECT_FALSE(is_implausible(180));
  EXPECT_FALSE(is_implausible(most - 150));
  EXPECT_TRUE(is_implausible(most - 149));
  EXPECT_TRUE(is_implausible(~std::uint64_t{0}));
  EXPECT_FALSE(is_implausible(most - 149, true));
  // What is not DWARF does not count.
  file.sections[2].name = ".comment";
  EXPECT_FALSE(is_implausible(most - 100));
  EXPECT_TRUE(is_implausible(most - 90)); // the names have become shorter by 3
  // No header, so no size.
  file.sections[1].bytes = Bytes(23);
  const Bytes bytes = file.build();
  const auto made = without_compression(*Image::parse(bytes), false);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().what, implausible);
  EXPECT_EQ(made.error().section, ".debug_str");
}

TEST(ElfLlvmInput, AsManySectionsAsDwarfHas) {
  for (const std::size_t count : {64, 65}) {
    TestElf file;
    file.sections.resize(count, {".debug_x", sht_progbits, 0, 0, Bytes(1)});
    const Bytes bytes = file.build();
    EXPECT_EQ(without_compression(*Image::parse(bytes), false).has_value(), count == 64);
  }
}

// LLVM assumes that relocations of objects are entries of their size, in the file, with a symbol table.
TEST(ElfLlvmInput, RelocationsThatLlvmCanRead) {
  constexpr std::uint32_t crel = 0x40000014;
  const auto is_fit = [](std::uint32_t type, std::size_t size, std::uint64_t entry, std::uint32_t link,
                         std::uint16_t file_type = et_rel) {
    TestElf file;
    file.type = file_type;
    file.sections = {{".debug_info", sht_progbits, 0, 0, Bytes(16)},
                     {".rela.debug_info", type, 0, 0, Bytes(size), link, 1, entry}};
    const Bytes bytes = file.build();
    return is_fit_for_llvm_dwarf(*Image::parse(bytes));
  };
  EXPECT_TRUE(is_fit(sht_rela, 48, 24, 3));
  EXPECT_TRUE(is_fit(sht_rel, 48, 16, 3));
  EXPECT_TRUE(is_fit(sht_rela, 0, 24, 3));
  EXPECT_TRUE(is_fit(crel, 5, 0, 3));
  EXPECT_FALSE(is_fit(sht_rela, 48, 16, 3));
  EXPECT_FALSE(is_fit(sht_rel, 48, 24, 3));
  EXPECT_FALSE(is_fit(sht_rela, 47, 24, 3));
  EXPECT_FALSE(is_fit(sht_rela, 48, 24, 4)); // sections 0 to 3
  EXPECT_TRUE(is_fit(sht_rela, 47, 24, 4, et_dyn)) << "not read there";
}

// 64 MiB and 64 times the file.
TEST(ElfLlvmInput, ClaimsOfCompressedSections) {
  TestElf file;
  file.sections = {{".debug_info", sht_progbits, shf_compressed, 0, compressed(0)},
                   {".debug_str", sht_progbits, shf_compressed, 0, compressed(0)}};
  const std::uint64_t most = (64 << 20) + 64 * file.build().size();
  const auto is_fit = [&](std::uint64_t first, std::uint64_t second) {
    file.sections[0].bytes = compressed(first);
    file.sections[1].bytes = compressed(second);
    const Bytes bytes = file.build();
    return is_fit_for_llvm_dwarf(*Image::parse(bytes));
  };
  EXPECT_TRUE(is_fit(180, 180));
  EXPECT_TRUE(is_fit(most, 0));
  EXPECT_FALSE(is_fit(most + 1, 0));
  EXPECT_TRUE(is_fit(most - 5, 5));
  EXPECT_FALSE(is_fit(most - 5, 6));
  EXPECT_FALSE(is_fit(~std::uint64_t{0}, ~std::uint64_t{0}));
}

} // namespace elf_llvm_input_test
} // namespace sframe::elf
