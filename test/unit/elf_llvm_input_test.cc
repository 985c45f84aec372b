// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's DWARF reader is given: files whose claims are checked first. Sizes are limited by formulas in
// llvm_input.h and .cc; the compressed section is zlib's (an Elf64_Chdr in front: type 1, size, alignment).

#include "elf_builder.h"
#include "inputs.h"

#include <sframe/bytes.h>
#include <sframe/elf/llvm_input.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
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
    EXPECT_EQ(after->sections()[0].type, 0u);
    EXPECT_EQ(after->sections()[0].size, 0u);
    for (const SectionHeader& section : after->sections()) {
      EXPECT_EQ(section.flags, 0u);
      EXPECT_EQ(section.address, 0u);
      EXPECT_EQ(section.link, 0u);
      EXPECT_EQ(section.entsize, 0u);
    }
  }
}

// Section headers are aligned, and follow all of .shstrtab, whatever the sizes of the sections.
TEST(ElfLlvmInput, SectionHeadersAreAligned) {
  for (std::size_t size = 0; size < 8; ++size) {
    TestElf file;
    file.sections = {{".debug_info", sht_progbits, 0, 0, Bytes(size)}};
    const Bytes bytes = file.build();
    const auto made = without_compression(*Image::parse(bytes), false);
    ASSERT_TRUE(made);
    const std::uint64_t headers = load_at<std::uint64_t>(*made, 40, ByteOrder::little).value(); // e_shoff
    EXPECT_EQ(headers % 8, 0u);
    const auto after = Image::parse(*made);
    ASSERT_TRUE(after) << after.error().text();
    ASSERT_EQ(after->sections().size(), 3u);
    const SectionHeader& names = after->sections()[2];
    EXPECT_EQ(names.name, ".shstrtab");
    EXPECT_LE(names.offset + names.size, headers);
    const std::string_view all(reinterpret_cast<const char*>(&made->at(names.offset)), names.size);
    EXPECT_EQ(all, std::string_view("\0.debug_info\0.shstrtab\0", 23));
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

/// Units without contents, which have at least 7 bytes after their length.
Bytes units(std::size_t count, ByteOrder order = ByteOrder::little) {
  Writer writer(order);
  for (std::size_t i = 0; i < count; ++i) writer.u32(7).zeros(7);
  return writer.bytes;
}

std::optional<std::uint64_t> steps_of(std::vector<test::TestSection> sections,
                                      ByteOrder order = ByteOrder::little) {
  TestElf file{.order = order};
  file.sections = std::move(sections);
  const Bytes bytes = file.build();
  const auto image = Image::parse(bytes);
  std::uint64_t steps = 0;
  const bool is_fit = image && is_fit_for_llvm_dwarf(*image, &steps);
  const auto found = steps_to_find_unit(image.value());
  EXPECT_EQ(found, is_fit ? std::optional(steps) : std::nullopt);
  return found;
}

// By the names that LLVM gives sections.
TEST(ElfLlvmInput, UnitsAreCounted) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto steps = [&](const char* name, const Bytes& bytes, std::uint32_t type = sht_progbits) {
      return steps_of({{name, type, 0, 0, bytes}}, order);
    };
    for (const char* name : {".debug_info", ".debug_types", ".debug_info.dwo", ".debug_types.dwo",
                             ".zdebug_info", "._debug_info", "debug_info"})
      EXPECT_EQ(steps(name, units(3, order)), 3u) << name;
    for (const char* name :
         {".debug_str", ".debug_info.x", ".debug_info.dwo.dwo", "x.debug_info", ".dwo", "._z"})
      EXPECT_EQ(steps(name, units(3, order)), 0u) << name;
    EXPECT_EQ(steps(".debug_info", units(3, order), sht_nobits), 0u);
    // Where LLVM stops: a unit that is too short or too long, or has half a length.
    EXPECT_EQ(steps(".debug_info", Writer(order).u32(6).zeros(6).append(units(3, order)).bytes), 1u);
    EXPECT_EQ(steps(".debug_info", Writer(order).u32(7).zeros(6).bytes), 1u);
    EXPECT_EQ(steps(".debug_info", Writer(order).u32(7).zeros(9).bytes), 1u);
    EXPECT_EQ(
        steps(".debug_info", Writer(order).u32(7).zeros(7).u32(0xfffffff0).append(units(3, order)).bytes),
        2u);
    // 64-bit DWARF.
    const auto longer = [&](std::uint64_t length) { return Writer(order).u32(0xffffffff).u64(length); };
    EXPECT_EQ(steps(".debug_info", longer(7).zeros(7).append(units(2, order)).bytes), 3u);
    EXPECT_EQ(steps(".debug_info", longer(8).zeros(7).bytes), 1u);
    EXPECT_EQ(steps(".debug_info", longer(~std::uint64_t{0}).append(units(2, order)).bytes), 1u);
    EXPECT_EQ(steps(".debug_info", Writer(order).u32(0xffffffff).u32(7).bytes), 1u);
  }
  EXPECT_EQ(steps_of({{".debug_info", sht_progbits, 0, 0, units(3)},
                      {".debug_types", sht_progbits, 0, 0, units(4)}}),
            7u);
  // Three units, by zlib.
  const Bytes packed = Writer()
                           .u32(1)
                           .u32(0)
                           .u64(33)
                           .u64(1)
                           .append(test::hex("78 da 63 67 80 03 76 ac 4c 00 01 ef 00 16"))
                           .bytes;
  EXPECT_EQ(steps_of({{".debug_info", sht_progbits, shf_compressed, 0, packed}}), 3u);
  EXPECT_EQ(steps_of({{".debug_str", sht_progbits, shf_compressed, 0, packed}}), 0u);
}

// 16,384, and one for 32 bytes of the file.
TEST(ElfLlvmInput, UnitsAreLimited) {
  TestElf file;
  const auto build = [&](std::size_t count) {
    file.sections = {{".debug_info", sht_progbits, 0, 0, units(count)}};
    return file.build();
  };
  const auto most = [&](std::size_t count) { return 16384 + build(count).size() / 32; };
  std::size_t count = 24900;
  while (count + 1 <= most(count + 1)) ++count;
  for (const bool is_fit : {true, false}) {
    const Bytes bytes = build(is_fit ? count : count + 1);
    const auto image = Image::parse(bytes);
    EXPECT_EQ(steps_to_find_unit(*image), is_fit ? std::optional<std::uint64_t>(count) : std::nullopt);
    EXPECT_EQ(is_fit_for_llvm_dwarf(*image), is_fit);
    const auto made = without_compression(*image, false);
    EXPECT_EQ(made.has_value(), is_fit);
    if (!made) {
      EXPECT_EQ(made.error().text(), "implausible number of units: no source lines (section .debug_info)");
    }
  }
}

struct PackageIndex {
  std::uint32_t version = 5, columns = 2, units = 3, buckets = 4;
  std::vector<std::uint32_t> rows = {2, 0, 3, 1}; ///< of the buckets
  std::size_t left_out = 0;                       ///< bytes at the end

  std::optional<std::uint64_t> steps(ByteOrder order, const char* name = ".debug_cu_index") const {
    Writer writer(order);
    version == 2 ? writer.u32(2) : writer.u16(version).u16(0);
    writer.u32(columns).u32(units).u32(buckets);
    writer.zeros(8 * rows.size());
    for (const std::uint32_t row : rows) writer.u32(row);
    writer.zeros(4 * columns * (1 + 2 * units)); // numbers of sections, offsets, sizes
    writer.bytes.resize(writer.bytes.size() - left_out);
    return steps_of({{name, sht_progbits, 0, 0, writer.bytes}}, order);
  }
};

// DWARF 5, 7.3.5.3; LLVM trusts all of it.
TEST(ElfLlvmInput, IndexesOfPackages) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto none = std::nullopt;
    for (const std::uint32_t version : {2, 5})
      for (const char* name : {".debug_cu_index", ".debug_tu_index"})
        EXPECT_EQ((PackageIndex{.version = version}.steps(order, name)), 1u);
    EXPECT_EQ((PackageIndex{.columns = 16}.steps(order)), 1u);
    EXPECT_EQ((PackageIndex{.columns = 17}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.left_out = 1}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.columns = 1, .left_out = 1}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.version = 4, .columns = 17}.steps(order)), 0u) << "ignored";
    // Rows: every unit has one.
    EXPECT_EQ((PackageIndex{.rows = {2, 0, 3, 2}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.rows = {2, 0, 3, 0}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.rows = {2, 0, 4, 1}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.units = 2, .rows = {2, 0, 0, 1}}.steps(order)), 1u);
    EXPECT_EQ((PackageIndex{.units = 0, .rows = {0, 0, 0, 0}}.steps(order)), 1u);
    // Buckets: a power of 2, and one of them is empty.
    EXPECT_EQ((PackageIndex{.units = 4, .rows = {2, 4, 3, 1}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.units = 2, .buckets = 3, .rows = {2, 0, 1}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.units = 1, .buckets = 0, .rows = {}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.columns = 0, .units = 0, .buckets = 0, .rows = {}}.steps(order)), 0u);
    EXPECT_EQ((PackageIndex{.columns = 0, .units = 0, .buckets = 4, .rows = {}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.columns = 0, .units = 1, .buckets = 0, .rows = {}}.steps(order)), none);
    EXPECT_EQ((PackageIndex{.columns = 0, .units = 1, .buckets = 0, .rows = {}, .left_out = 1}.steps(order)),
              0u)
        << "no header";
    // LLVM looks at every bucket, 32 of which cost as much as a unit.
    for (const std::uint32_t buckets : {16, 32, 64}) {
      std::vector<std::uint32_t> rows(buckets);
      rows[1] = 1;
      EXPECT_EQ((PackageIndex{.units = 1, .buckets = buckets, .rows = rows}.steps(order)), 1 + buckets / 32);
    }
  }
}

/// The ELF file with sections that have other places in it: offset and size by number, from 1 on.
Bytes moved(Bytes bytes, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& places) {
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes[at], 8);
    return value;
  };
  const std::size_t headers = word(40);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(&bytes[headers + 64 * (i + 1) + 24], &places[i].first, 8);
    std::memcpy(&bytes[headers + 64 * (i + 1) + 32], &places[i].second, 8);
  }
  return bytes;
}

// All of them together are in the file once.
TEST(ElfLlvmInput, SectionsDoNotOverlap) {
  constexpr std::uint32_t crel = 0x40000014;
  for (const bool relocations : {true, false}) {
    TestElf file;
    const std::uint32_t type = relocations ? crel : sht_progbits;
    const char* const name = relocations ? ".crel.x" : ".debug_x";
    file.sections = {{name, type, 0, 0, {}}, {name, type, 0, 0, {}}, {".debug_info", sht_progbits, 0, 0, {}}};
    const Bytes bytes = file.build();
    const auto is_fit = [&](std::uint64_t first, std::uint64_t second, std::uint64_t offset = 0) {
      const Bytes changed = moved(bytes, {{offset, first}, {0, second}});
      return is_fit_for_llvm_dwarf(Image::parse(changed).value());
    };
    EXPECT_TRUE(is_fit(bytes.size(), 0));
    EXPECT_TRUE(is_fit(bytes.size() - 1, 1));
    EXPECT_FALSE(is_fit(bytes.size(), 1));
    // Not in the file: relocations that LLVM would read; it ignores other sections.
    EXPECT_EQ(is_fit(bytes.size() + 1, 0), !relocations);
    EXPECT_EQ(is_fit(bytes.size(), 0, 1), !relocations);
    EXPECT_EQ(is_fit(0, 0, bytes.size() + 1), !relocations);
    EXPECT_TRUE(is_fit(0, 0, bytes.size()));
  }
}

} // namespace elf_llvm_input_test
} // namespace sframe::elf
