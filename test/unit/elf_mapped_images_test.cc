// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which mappings are an image: layouts of linkers, by hand.

#include "elf_builder.h"
#include "sframe/elf/mapped_images.h"

#include <gtest/gtest.h>
#include <map>

namespace sframe::elf {
namespace elf_mapped_images_test {

using test::Writer;

/// A program header: flags, file offset, address, size in the file.
struct Load {
  std::uint32_t flags;
  std::uint64_t offset, address, size;
};

/// The first page of a file with these PT_LOAD segments (System V ABI, chapters 4 and 5).
std::vector<std::byte> first_page(std::uint16_t type, std::vector<Load> loads) {
  Writer page;
  page.u32(0x464c457f).u32(0x00010102).zeros(8);
  page.u16(type).u16(62).u32(1).u64(0).u64(64).u64(0).u32(0).u16(64).u16(56).u16(loads.size()).u16(64).u32(0);
  for (const Load& load : loads) {
    page.u32(pt_load).u32(load.flags).u64(load.offset).u64(load.address).u64(load.address);
    page.u64(load.size).u64(load.size).u64(0x1000);
  }
  return page.align(4096).bytes;
}

/// Memory: pages by address.
using Memory = std::map<std::uint64_t, std::vector<std::byte>>;

std::vector<MappedImage> find(std::vector<Mapping> mappings, const Memory& memory,
                              std::uint64_t program_headers = 0) {
  const auto read = [&](std::uint64_t address) {
    const auto found = memory.find(address);
    return found == memory.end() ? std::span<const std::byte>() : std::span(found->second);
  };
  return find_images(mappings, ByteOrder::little, read, program_headers);
}

Mapping of_file(std::uint32_t file, std::uint64_t start, std::uint64_t end, std::uint64_t offset, bool code) {
  return {.start = start, .end = end, .file_offset = offset, .executable = code, .file = file};
}
Mapping anonymous(std::uint64_t start, std::uint64_t end, bool code) {
  return {.start = start, .end = end, .executable = code};
}

/// ld.lld's layout of a small program.
const std::vector<Load> in_first_page = {
    {pf_r, 0, 0, 0x500}, {pf_r | pf_x, 0x500, 0x1500, 0x200}, {pf_r | pf_w, 0x700, 0x2700, 0x100}};

TEST(ElfMappedImages, AllSegmentsInTheFirstPage) {
  const auto page = first_page(et_dyn, in_first_page);
  const std::vector<Mapping> mappings = {of_file(1, 0x10000, 0x11000, 0, false),
                                         of_file(1, 0x11000, 0x12000, 0, true),
                                         of_file(1, 0x12000, 0x13000, 0, false)};
  const auto images = find(mappings, {{0x10000, page}, {0x11000, page}, {0x12000, page}});
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].bias, 0x10000u);
  EXPECT_EQ(images[0].header_address, 0x10000u);
  EXPECT_EQ(images[0].mappings.size(), 3u);

  // Without the page, it is still one image; the file has the bias.
  const auto bare = find(mappings, {});
  ASSERT_EQ(bare.size(), 1u);
  EXPECT_EQ(bare[0].mappings.size(), 3u);
  EXPECT_FALSE(bare[0].bias);
  const auto file = Image::parse(page);
  ASSERT_TRUE(file);
  EXPECT_EQ(BiasFinder(*file).find(bare[0].mappings), 0x10000u);
}

TEST(ElfMappedImages, LoadedTwice) {
  const auto page = first_page(et_dyn, in_first_page);
  std::vector<Mapping> mappings;
  Memory memory;
  for (const std::uint64_t start : {0x10000u, 0x13000u}) {
    for (const std::uint64_t at : {start, start + 0x1000, start + 0x2000}) {
      mappings.push_back(of_file(1, at, at + 0x1000, 0, at == start + 0x1000));
      memory[at] = page;
    }
  }
  const auto images = find(mappings, memory);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].bias, 0x10000u);
  EXPECT_EQ(images[1].bias, 0x13000u);
  EXPECT_EQ(images[0].mappings.size(), 3u);
  EXPECT_EQ(images[1].mappings.size(), 3u);
}

const std::vector<Load> usual = {
    {pf_r, 0, 0, 0x900}, {pf_r | pf_x, 0x1000, 0x1000, 0x2000}, {pf_r | pf_w, 0x3e00, 0x4e00, 0x200}};

TEST(ElfMappedImages, OtherMappingsOfTheFile) {
  const auto page = first_page(et_dyn, usual);
  const auto images =
      find({of_file(1, 0x1a000, 0x1f000, 0, false),     // the file as data
            of_file(1, 0x1f000, 0x20000, 0x2000, true), // a page of text
            of_file(1, 0x20000, 0x21000, 0, false), of_file(1, 0x21000, 0x23000, 0x1000, true),
            of_file(1, 0x24000, 0x25000, 0x3000, false)},
           {{0x1a000, page}, {0x20000, page}});
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].mappings.size(), 1u);
  EXPECT_EQ(images[0].mappings[0].start, 0x1f000u);
  EXPECT_EQ(images[0].header_address, 0u);
  EXPECT_EQ(images[1].bias, 0x20000u);
  EXPECT_EQ(images[1].header_address, 0x20000u);
  EXPECT_EQ(images[1].mappings.size(), 3u);
}

TEST(ElfMappedImages, MovedText) {
  const auto page = first_page(et_dyn, usual);
  // All of it, in memory that goes on after the segment.
  auto images = find({of_file(1, 0x20000, 0x21000, 0, false), anonymous(0x21000, 0x24000, true),
                      of_file(1, 0x24000, 0x25000, 0x3000, false), anonymous(0x25000, 0x26000, false)},
                     {{0x20000, page}});
  ASSERT_EQ(images.size(), 1u);
  ASSERT_EQ(images[0].mappings.size(), 3u);
  EXPECT_TRUE(images[0].mappings[1].moved);
  EXPECT_EQ(images[0].mappings[1].start, 0x21000u);
  EXPECT_EQ(images[0].mappings[1].end, 0x23000u);
  // A page of it, in another file; without the first page.
  const std::vector<Mapping> one_page = {
      of_file(1, 0x20000, 0x21000, 0, false), of_file(1, 0x21000, 0x22000, 0x1000, true),
      anonymous(0x22000, 0x23000, true), of_file(1, 0x24000, 0x25000, 0x3000, false)};
  for (const Memory& memory : {Memory{{0x20000, page}}, Memory{}}) {
    images = find(one_page, memory);
    ASSERT_EQ(images.size(), 1u);
    ASSERT_EQ(images[0].mappings.size(), 4u);
    EXPECT_TRUE(images[0].mappings[2].moved);
  }
  // A file's first page as data, and another image's memory after it.
  images =
      find({of_file(1, 0x20000, 0x21000, 0, false), anonymous(0x21000, 0x23000, true)}, {{0x20000, page}});
  for (const MappedImage& image : images) EXPECT_EQ(image.mappings.size(), 1u);
}

TEST(ElfMappedImages, ProgramWithoutMappingsOfItsFile) {
  for (const std::uint16_t type : {et_dyn, et_exec}) {
    std::vector<Load> loads = usual;
    const std::uint64_t base = 0x400000, bias = type == et_exec ? 0 : base;
    for (Load& load : loads) load.address += base - bias;
    const Memory memory = {{base, first_page(type, loads)}};
    const std::vector<Mapping> mappings = {anonymous(base, base + 0x1000, false),
                                           anonymous(base + 0x1000, base + 0x3000, true),
                                           anonymous(base + 0x4000, base + 0x6000, false)};
    EXPECT_TRUE(find(mappings, memory).empty());
    const auto images = find(mappings, memory, base + 64);
    ASSERT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].file, 0u);
    EXPECT_EQ(images[0].bias, bias);
    EXPECT_EQ(images[0].header_address, base);
    EXPECT_EQ(images[0].mappings.front().start, base);
    EXPECT_EQ(images[0].mappings.back().end, base + 0x5000);
    EXPECT_TRUE(find(mappings, memory, base + 72).empty()); // not where the header says
  }
}

/// A mapping of a program with fixed addresses elsewhere is none of its segments.
TEST(ElfMappedImages, FixedAddresses) {
  std::vector<Load> loads = usual;
  for (Load& load : loads) load.address += 0x400000;
  const auto page = first_page(et_exec, loads);
  const auto images =
      find({of_file(1, 0x400000, 0x401000, 0, false), of_file(1, 0x401000, 0x403000, 0x1000, true),
            of_file(1, 0x500000, 0x501000, 0, false), of_file(1, 0x501000, 0x503000, 0x1000, true)},
           {{0x400000, page}, {0x500000, page}});
  ASSERT_GE(images.size(), 1u);
  EXPECT_EQ(images[0].bias, 0u);
  EXPECT_EQ(images[0].mappings.size(), 2u);
  for (const MappedImage& image : std::span(images).subspan(1)) EXPECT_FALSE(image.bias);
}

/// Very many mappings, all of which may be the start of an image in the same range.
TEST(ElfMappedImages, HostileMappings) {
  std::vector<Load> loads;
  for (std::uint64_t i = 0; i < 70; ++i) loads.push_back({pf_r | pf_x, i, i << 40, std::uint64_t{1} << 46});
  const auto page = first_page(et_dyn, loads);
  std::vector<Mapping> mappings;
  Memory memory;
  for (std::uint32_t i = 1; i <= 5000; ++i) {
    const std::uint64_t start = std::uint64_t{i} << 16;
    mappings.push_back(of_file(i % 100 == 0 ? i : 1, start, start + 0x1000, 0, true));
    mappings.push_back(anonymous(start + 0x1000, start + 0x2000, true));
    memory[start] = page;
  }
  std::size_t found = 0;
  for (const MappedImage& image : find(mappings, memory, std::uint64_t{1} << 16))
    found += image.mappings.size();
  EXPECT_GE(found, 5000u);
}

} // namespace elf_mapped_images_test
} // namespace sframe::elf
