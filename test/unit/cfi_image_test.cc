// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the CFI of an image without section headers: PT_GNU_EH_FRAME locates it, and the base of
// DW_EH_PE_datarel is in the dynamic segment (DT_PLTGOT), as in glibc's _Unwind_Find_FDE.

#include "cfi_assembler.h"
#include "elf_builder.h"
#include "sframe/cfi/image.h"

#include <gtest/gtest.h>

#include <map>

namespace cfi_image_test {

using namespace sframe;
using namespace sframe::cfi;
using test::Bytes;
using test::CfiAssembler;

constexpr std::uint64_t dynamic_address = 0x3000, header_address = 0x4000, frames_address = 0x5000;
constexpr std::uint64_t image_size = 0x10000;

/// A process's memory with an image of three parts, loaded with a bias: the image's addresses are the keys.
struct Example {
  std::map<std::uint64_t, std::vector<std::byte>> memory;
  std::uint64_t dynamic_size = 0, header_size = 0;

  Example(const Bytes& dynamic) {
    CfiAssembler frames;
    const auto cie =
        frames.cie(frames.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(pe_datarel | pe_sdata4));
    const auto fde = frames.fde(cie, frames.body().u32(0x100).u32(0x10).uleb(0));
    frames.terminator();
    memory[frames_address] = frames.bytes().get();
    memory[frames_address].resize(200, std::byte{0xaa}); // other things follow
    Bytes header;
    header.raw({1, 0x1b, 0x03, 0x3b}).u32(frames_address - header_address - 4).u32(1);
    header.u32(0x100).u32(static_cast<std::uint32_t>(frames_address + fde - header_address));
    memory[header_address] = header.get();
    memory[dynamic_address] = dynamic.get();
    dynamic_size = dynamic.size();
    header_size = header.size();
  }

  ImageCfi open(std::uint64_t bias = 0, bool is_dynamic = true, std::uint16_t machine = 62) const {
    test::TestElf file{.type = 3, .machine = machine};
    file.segments.push_back({.type = elf::pt_load, .memory_size = image_size});
    if (is_dynamic)
      file.segments.push_back(
          {.type = elf::pt_dynamic, .address = dynamic_address, .memory_size = dynamic_size});
    file.segments.push_back(
        {.type = elf::pt_gnu_eh_frame, .address = header_address, .memory_size = header_size});
    bytes_ = file.build();
    image_ = elf::Image::parse(bytes_).value();
    return open_cfi_in_memory(*image_, bias, [this](std::uint64_t address) {
      const auto at = memory.find(address);
      return at == memory.end() ? std::span<const std::byte>() : std::span<const std::byte>(at->second);
    });
  }

  /// The address that datarel counts from.
  std::uint64_t data_base(std::uint64_t bias = 0, bool is_dynamic = true) const {
    const ImageCfi cfi = open(bias, is_dynamic);
    EXPECT_EQ(cfi.sections.size(), 1u);
    if (cfi.sections.empty()) return ~0ull;
    const CfiSection& section = cfi.sections[0].section;
    EXPECT_EQ(section.address(), frames_address);
    EXPECT_EQ(section.bytes().size(), 17u + 17) << "CIE and FDE; the terminator ends it";
    EXPECT_EQ(section.bases().text, 0u);
    FdeCursor fdes = section.fdes();
    const auto fde = fdes.next();
    EXPECT_TRUE(fde && *fde);
    EXPECT_EQ((*fde)->start, section.bases().data + 0x100);
    return section.bases().data;
  }

private:
  mutable std::vector<std::byte> bytes_;
  mutable std::optional<elf::Image> image_;
};

TEST(CfiImage, DataBaseIsPltgot) {
  const Bytes dynamic = Bytes().u64(5).u64(0x1234).u64(3).u64(0x6000).u64(0).u64(0);
  EXPECT_EQ(Example(dynamic).data_base(), 0x6000u);
  EXPECT_EQ(Example(dynamic).data_base(0, false), 0u) << "no dynamic segment";
  EXPECT_EQ(Example(Bytes().u64(5).u64(0x1234).u64(0).u64(0)).data_base(), 0u) << "no DT_PLTGOT";
  // Entries after DT_NULL are ignored, and so is what is not in the segment.
  EXPECT_EQ(Example(Bytes().u64(0).u64(0).u64(3).u64(0x6000)).data_base(), 0u);
  EXPECT_EQ(Example(Bytes().u64(3).u64(0x6000)).data_base(), 0x6000u) << "the last entry, without a DT_NULL";
  Example short_segment(Bytes().u64(3).u64(0x6000));
  short_segment.dynamic_size = 15;
  EXPECT_EQ(short_segment.data_base(), 0u);
  Example short_memory(Bytes().u64(3).u64(0x6000));
  short_memory.memory[dynamic_address].resize(15);
  EXPECT_EQ(short_memory.data_base(), 0u);
}

// The loader may have added the bias to it (glibc on most machines does), or not.
TEST(CfiImage, RelocatedPltgot) {
  constexpr std::uint64_t bias = 0x7f0000000000;
  const auto with = [](std::uint64_t pltgot) { return Example(Bytes().u64(3).u64(pltgot).u64(0).u64(0)); };
  EXPECT_EQ(with(0x6000).data_base(bias), 0x6000u);
  EXPECT_EQ(with(bias + 0x6000).data_base(bias), 0x6000u);
  EXPECT_EQ(with(image_size - 1).data_base(bias), image_size - 1);
  EXPECT_EQ(with(bias + image_size - 1).data_base(bias), image_size - 1);
}

// A header without a search table is as good; one without the address of .eh_frame is not.
TEST(CfiImage, SegmentCfiNeedsAddress) {
  Example no_table(Bytes().u64(0).u64(0));
  no_table.memory[header_address][3] = std::byte{pe_omit};
  ASSERT_EQ(no_table.open().sections.size(), 1u);
  EXPECT_FALSE(no_table.open().sections[0].table);
  Example no_pointer(Bytes().u64(0).u64(0));
  no_pointer.memory[header_address][1] = std::byte{0x9b}; // indirect
  EXPECT_TRUE(no_pointer.open().sections.empty());
  // The header is cut where the segment ends: the table has no entry, and the section is read to its end.
  Example cut(Bytes().u64(0).u64(0));
  cut.header_size = 12;
  ASSERT_EQ(cut.open().sections.size(), 1u);
  EXPECT_EQ(cut.open().sections[0].table->size(), 0u);
  EXPECT_EQ(cut.open().sections[0].index, 0u);
  EXPECT_TRUE(cut.open(0, true, 40).sections.empty()) << "a machine that SFrame does not know";
}

// Linked files: .got.plt comes before .got, and an object's sections are all taken.
TEST(CfiImage, SectionsByName) {
  CfiAssembler frames;
  frames.cie(frames.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
  const auto bytes = frames.bytes().get();
  const auto open = [&](std::uint16_t type, std::vector<test::TestSection> sections, CfiKinds kinds = {}) {
    static std::vector<std::byte> file;
    file = test::TestElf{.type = type, .sections = std::move(sections)}.build();
    const auto image = elf::Image::parse(file).value();
    struct Summary {
      std::vector<std::pair<SectionKind, std::uint32_t>> sections;
      std::uint64_t data = 0;
      std::vector<bool> has_table;
    } summary;
    for (const ImageSection& section : open_cfi(image, kinds).sections) {
      summary.sections.emplace_back(section.section.kind(), section.index);
      summary.data = section.section.bases().data;
      summary.has_table.push_back(section.table.has_value());
    }
    return summary;
  };
  using Sections = std::vector<std::pair<SectionKind, std::uint32_t>>;
  constexpr auto eh_frame = SectionKind::eh_frame, debug_frame = SectionKind::debug_frame;
  const test::TestSection frame{.name = ".eh_frame", .flags = 2, .address = 0x2000, .bytes = bytes};
  const test::TestSection debug{.name = ".debug_frame", .bytes = bytes};
  const test::TestSection empty{.name = ".eh_frame", .flags = 2, .address = 0x2000};
  const test::TestSection got{.name = ".got", .flags = 3, .address = 0x7000, .bytes = bytes};
  const test::TestSection got_plt{.name = ".got.plt", .flags = 3, .address = 0x8000, .bytes = bytes};
  EXPECT_EQ(open(3, {frame, got, got_plt}).data, 0x8000u);
  EXPECT_EQ(open(3, {frame, got}).data, 0x7000u);
  EXPECT_EQ(open(3, {debug, frame, frame}).sections, (Sections{{eh_frame, 2}, {debug_frame, 1}}));
  EXPECT_EQ(open(1, {debug, frame, frame}).sections,
            (Sections{{eh_frame, 2}, {eh_frame, 3}, {debug_frame, 1}}));
  EXPECT_EQ(open(3, {empty, frame}).sections, (Sections{{eh_frame, 2}}));
  // .eh_frame_hdr belongs to .eh_frame, and in a linked file only.
  const test::TestSection table{.name = ".eh_frame_hdr",
                                .flags = 2,
                                .address = 0x1000,
                                .bytes = Bytes().raw({1, 0xff, 0x03, 0x3b}).u32(0).get()};
  const test::TestSection no_table{
      .name = ".eh_frame_hdr", .flags = 2, .bytes = Bytes().raw({1, 0xff, 0xff, 0xff}).get()};
  EXPECT_EQ(open(3, {frame, table, debug}).has_table, (std::vector{true, false}));
  EXPECT_EQ(open(3, {frame, no_table, debug}).has_table, (std::vector{false, false}));
  EXPECT_EQ(open(1, {frame, table, debug}).has_table, (std::vector{false, false}));
  EXPECT_EQ(open(3, {frame, debug}, {.debug_frame = false}).sections, (Sections{{eh_frame, 1}}));
  EXPECT_EQ(open(3, {frame, debug}, {.eh_frame = false}).sections, (Sections{{debug_frame, 2}}));
}

} // namespace cfi_image_test
