// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of an image as walks read them: the same CFI that conversions read, for every base of its
// pointers and every kind of end; functions of several SFrame sections.

#include "cfi_assembler.h"
#include "elf_builder.h"

#include "sframe/base/budget.h"
#include "sframe/builder.h"
#include "sframe/generate/cfi_input.h"
#include "sframe/modules/module.h"
#include "sframe/modules/tables.h"

#include <gtest/gtest.h>

#include <set>

namespace modules_tables_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::unwind;
using test::Bytes;

constexpr std::uint64_t text_at = 0x1000, frames_at = 0x2000, header_at = 0x3000, got_at = 0x4000,
                        dynamic_at = 0x5000;

/// .eh_frame with a function each at text_at + 0x100 * n, whose starts are relative to data: `num` of them,
/// then a terminator, then what is no CFI.
struct Frames {
  explicit Frames(int num) {
    constexpr std::uint8_t encoding = cfi::pe_datarel | cfi::pe_sdata4;
    const std::size_t cie =
        cfi.cie(cfi.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(encoding).raw(
            {0x0c, 7, 8, 0x90, 1, 0, 0}));
    for (int i = 0; i < num; ++i) {
      const std::uint64_t start = text_at + 0x100 * static_cast<std::uint64_t>(i);
      fdes.push_back(cfi.fde(cie, cfi.body().u32(start - got_at).u32(0x80).uleb(0).raw({0, 0, 0})));
    }
    cfi.terminator();
  }
  /// As .eh_frame_hdr has it: with a table of the first `listed`.
  Bytes header(std::size_t listed) const {
    Bytes bytes;
    bytes.raw({1, cfi::pe_pcrel | cfi::pe_sdata4, cfi::pe_udata4, cfi::pe_datarel | cfi::pe_sdata4});
    bytes.u32(frames_at - (header_at + 4)).u32(listed);
    for (std::size_t i = 0; i < listed; ++i)
      bytes.u32(text_at + 0x100 * i - header_at).u32(frames_at + fdes[i] - header_at);
    return bytes;
  }
  test::CfiAssembler cfi;
  std::vector<std::size_t> fdes;
};

/// A linked file; without section headers, segments lead to everything.
std::vector<std::byte> file_with(Frames& frames, const Bytes& header, bool sections) {
  std::vector<std::byte> after = frames.cfi.bytes().get();
  for (int i = 0; i < 64; ++i) after.push_back(std::byte{0x5a});
  Bytes dynamic;
  dynamic.u64(5).u64(0x1234).u64(3).u64(got_at).u64(0).u64(0); // DT_STRTAB, DT_PLTGOT, DT_NULL
  test::TestElf file{.type = elf::et_dyn, .sections = {}, .segments = {}};
  const std::vector<std::byte> text(0x800), got(64);
  if (sections)
    file.sections = {
        {.name = ".text", .flags = elf::shf_alloc | elf::shf_execinstr, .address = text_at, .bytes = text},
        {.name = ".eh_frame",
         .flags = elf::shf_alloc,
         .address = frames_at,
         .bytes = frames.cfi.bytes().get()},
        {.name = ".eh_frame_hdr", .flags = elf::shf_alloc, .address = header_at, .bytes = header.get()},
        {.name = ".got", .flags = elf::shf_alloc, .address = got_at, .bytes = got}};
  file.segments = {{.flags = elf::pf_r | elf::pf_x, .address = text_at, .bytes = text},
                   {.address = frames_at, .bytes = after},
                   {.address = header_at, .bytes = header.get()},
                   {.type = elf::pt_gnu_eh_frame, .address = header_at, .bytes = header.get()},
                   {.address = got_at, .bytes = got},
                   {.address = dynamic_at, .bytes = dynamic.get()},
                   {.type = elf::pt_dynamic, .address = dynamic_at, .bytes = dynamic.get()}};
  return file.build();
}

std::set<std::uint64_t> converted_starts(const elf::Image& image) {
  std::set<std::uint64_t> starts;
  const auto input = generate::CfiInput::from_image(image);
  EXPECT_TRUE(input);
  if (!input) return starts;
  for (const cfi::CfiSection& section : input->sections)
    for (cfi::FdeCursor fdes = section.fdes();;) {
      const auto fde = fdes.next();
      EXPECT_TRUE(fde) << "nothing but CFI";
      if (!fde || !*fde) break;
      starts.insert((*fde)->start);
    }
  return starts;
}

std::set<std::uint64_t> walked_starts(UnwindTables& tables) {
  std::set<std::uint64_t> starts;
  CfiMatch answer;
  for (std::uint64_t at = text_at; at < text_at + 0x800; at += 0x10)
    if (tables.find_cfi(LinkAddress(at), answer)) starts.insert(answer.row.fde_start);
  return starts;
}

TEST(UnwindTables, ReadTheCfiThatConversionsRead) {
  Frames frames(5);
  const std::set<std::uint64_t> all = {0x1000, 0x1100, 0x1200, 0x1300, 0x1400};
  for (const bool sections : {true, false})
    for (const std::size_t listed : {5, 3, 0}) {
      const auto bytes = file_with(frames, frames.header(listed), sections);
      const auto image = elf::Image::parse(bytes);
      ASSERT_TRUE(image);
      EXPECT_EQ(converted_starts(*image), all) << sections << listed;
      if (listed != 5) continue; // an unwinder goes by the table
      UnwindTables tables({.image = &*image}, *image->abi());
      EXPECT_EQ(walked_starts(tables), all) << sections;
    }
}

/// The same image where a process has it: at another place, with the GOT's address put right by the loader.
TEST(UnwindTables, ReadTheCfiOfAnImageInMemory) {
  constexpr std::uint64_t bias = 0x7f0000000000;
  struct Memory final : ByteSource {
    std::span<const std::byte> memory_at(std::uint64_t address) override {
      const auto rest = image->bytes_at(address - bias);
      if (address - bias != dynamic_at) return rest;
      dynamic.assign(rest.begin(), rest.end());
      Bytes moved;
      moved.u64(got_at + bias);
      std::ranges::copy(moved.get(), dynamic.begin() + 24);
      return dynamic;
    }
    const elf::Image* image = nullptr;
    std::vector<std::byte> dynamic;
  };
  Frames frames(5);
  const auto bytes = file_with(frames, frames.header(5), false);
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  Memory memory;
  memory.image = &*image;
  UnwindTables tables({.image = &*image, .image_is_memory = true, .memory = &memory, .bias = bias},
                      *image->abi());
  EXPECT_EQ(walked_starts(tables), (std::set<std::uint64_t>{0x1000, 0x1100, 0x1200, 0x1300, 0x1400}));
}

/// A terminator among the FDEs: those after it count if the table leads to them.
TEST(UnwindTables, TableGoesPastTerminator) {
  Frames frames(2);
  const std::size_t cie = 0;
  frames.fdes.push_back(
      frames.cfi.fde(cie, frames.cfi.body().u32(text_at + 0x200 - got_at).u32(0x80).uleb(0).raw({0, 0, 0})));
  frames.cfi.terminator();
  for (const std::size_t listed : {3, 2}) {
    const auto bytes = file_with(frames, frames.header(listed), false);
    const auto image = elf::Image::parse(bytes);
    ASSERT_TRUE(image);
    EXPECT_EQ(converted_starts(*image).size(), listed);
    UnwindTables tables({.image = &*image}, *image->abi());
    EXPECT_EQ(walked_starts(tables).size(), listed);
  }
}

/// Instructions cost each time that they are executed.
TEST(UnwindTables, InstructionsCost) {
  constexpr std::uint64_t num_rows = 0x600, row_size = 15;
  Frames frames(0);
  Bytes body = frames.cfi.body().u32(text_at - got_at).u32(num_rows).uleb(0);
  for (std::uint64_t i = 0; i < num_rows; ++i) { // def_cfa_offset, nop..., advance_loc 1
    body.u8(0x0e).u8(16 + 8 * (i % 2));
    for (std::uint64_t size = 3; size < row_size; ++size) body.u8(0);
    body.u8(0x41);
  }
  frames.fdes.push_back(frames.cfi.fde(0, body));
  const auto bytes = file_with(frames, frames.header(1), false);
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  FileOptions files;
  files.add_budget(bytes.size());
  UnwindTables tables({.image = &*image, .budget = files.budget.get()}, *image->abi());
  const auto cost = [&](std::uint64_t row) {
    const std::uint64_t before = files.budget->left(Resource::cfi_instructions);
    CfiMatch answer;
    EXPECT_TRUE(tables.find_cfi(LinkAddress(text_at + row), answer)) << row;
    EXPECT_EQ(answer.row.cfa.offset, static_cast<std::int64_t>(16 + 8 * (row % 2))) << row;
    EXPECT_EQ(answer.row.begin, text_at + row);
    EXPECT_EQ(answer.row.end, text_at + row + 1);
    return before - files.budget->left(Resource::cfi_instructions);
  };
  EXPECT_LT(cost(0), 3 * row_size);
  const std::uint64_t some = cost(1000);
  EXPECT_GE(some, 1000 * row_size);
  EXPECT_LT(some, 1003 * row_size);
  EXPECT_EQ(cost(1000), some); // the same again
  CfiMatch answer;
  EXPECT_FALSE(tables.find_cfi(LinkAddress(text_at - 1), answer));
  EXPECT_FALSE(tables.find_cfi(LinkAddress(text_at + num_rows), answer));
}

/// Two sections, one after another as linkers leave them, of functions that all have the same rows. What ends
/// at an address is a function, not a rule.
TEST(UnwindTables, FunctionsOfSeveralSections) {
  const AbiTraits& abi = traits(Abi::amd64);
  const auto section = [&](std::uint64_t address, std::initializer_list<std::uint64_t> starts) {
    Builder builder({.abi = Abi::amd64});
    FrameRow early = abi.entry_row(), late = early;
    late.offset = 0x10;
    late.cfa.offset += 8;
    for (const std::uint64_t start : starts)
      EXPECT_TRUE(builder.add({.start = start, .size = 0x20}, std::vector{early, late}));
    auto bytes = builder.finish(address);
    EXPECT_TRUE(bytes);
    return bytes ? std::move(*bytes) : std::vector<std::byte>();
  };
  constexpr std::uint64_t sframe_at = 0x8000;
  std::vector<std::byte> both = section(sframe_at, {0x1020, 0x1060});
  const auto second = section(sframe_at + both.size(), {0x1000, 0x1040});
  both.insert(both.end(), second.begin(), second.end());
  const auto bytes = test::TestElf{
      .type = elf::et_dyn,
      .sections = {{.name = ".sframe",
                    .type = elf::sht_gnu_sframe,
                    .flags = elf::shf_alloc,
                    .address = sframe_at,
                    .bytes = both}},
      .segments = {}}.build();
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  UnwindTables tables({.image = &*image}, abi);
  for (std::uint64_t pc = 0x1000; pc < 0x1080; ++pc) {
    const auto answer = tables.find_sframe(LinkAddress(pc));
    ASSERT_TRUE(answer) << std::hex << pc;
    EXPECT_EQ(answer->ends_here, pc % 0x20 == 0x1f) << std::hex << pc;
    const auto function = tables.function_at(LinkAddress(pc));
    ASSERT_TRUE(function);
    EXPECT_EQ(function->start, pc - pc % 0x20);
    EXPECT_EQ(function->size, 0x20u);
  }
  EXPECT_FALSE(tables.find_sframe(LinkAddress(0x1080)));
  EXPECT_FALSE(tables.function_at(LinkAddress(0x1080)));
}

} // namespace modules_tables_test
