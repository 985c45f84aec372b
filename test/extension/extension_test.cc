// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An added version and an added ABI in the codec: written, read, looked up, swapped, converted.

#include "sframe/builder.h"
#include "sframe/bytes.h"
#include "sframe/code/disassembly.h"
#include "sframe/convert.h"
#include "sframe/core/registers.h"
#include "sframe/index.h"
#include "sframe/section.h"
#include "sframe/unwind/abi.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

using namespace sframe;

namespace {

constexpr std::uint64_t address = 0x400000;

/// A function whose frame is set up in three steps; it saves RA and FP where the ABI does not fix them.
std::vector<FrameRow> frame_rows(const AbiTraits& abi) {
  const Rule ra = abi.fixed_ra_offset ? Rule::fixed() : Rule::at_cfa(-8);
  const auto offset = [&](int units) { return abi.cfa_bias + abi.cfa_scale * units; };
  return {abi.entry_row(),
          {4, Rule::value(abi.sp, offset(32)), ra, Rule::same(), false},
          {8, Rule::value(abi.sp, offset(32)), ra, Rule::at_cfa(-16), false},
          {300, Rule::value(abi.fp, offset(16)), ra, Rule::at_cfa(-16), false}};
}

/// Three functions: the one above, one of one row, and an outermost frame without rows.
std::vector<std::byte> build(VersionNumber version, const AbiTraits& abi, ByteOrder order) {
  Builder builder({.version = version, .abi = abi.id, .byte_order = order});
  const auto rows = frame_rows(abi);
  EXPECT_TRUE(builder.add({.start = 0x401000, .size = 400}, rows));
  EXPECT_TRUE(builder.add({.start = 0x401200, .size = 16}, {rows.data(), 1}));
  EXPECT_TRUE(builder.add({.start = 0x401300, .size = 16}, std::vector{FrameRow::outermost(0)}));
  auto bytes = builder.finish(address);
  EXPECT_TRUE(bytes);
  return bytes ? *bytes : std::vector<std::byte>();
}

void expect_functions(std::span<const std::byte> bytes, VersionNumber version, const AbiTraits& abi) {
  const auto section = Section::parse(bytes, address);
  ASSERT_TRUE(section) << message(section.error().kind);
  EXPECT_EQ(section->version().number, static_cast<std::uint8_t>(version));
  EXPECT_EQ(section->abi().name, abi.name);
  ASSERT_EQ(section->num_fdes(), 3u);
  ASSERT_FALSE(section->check_index());
  const auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  for (const FrameRow& row : frame_rows(abi)) {
    const auto match = section->find(0x401000 + row.offset);
    ASSERT_TRUE(match && *match);
    EXPECT_EQ((*match)->row, row);
    EXPECT_NE(index->find(0x401000 + row.offset), nullptr);
  }
  const auto last = section->find(0x401300);
  ASSERT_TRUE(last && *last);
  EXPECT_TRUE((*last)->row.is_outermost());
}

TEST(Extension, ListsTheAddedVersionAndAbi) {
  ASSERT_EQ(all_versions().size(), 4u);
  EXPECT_EQ(all_versions().back()->number, 4);
  EXPECT_EQ(traits(VersionNumber::v4).entry_size, 12u);
  ASSERT_EQ(all_abis().size(), 5u);
  EXPECT_EQ(find_abi("riscv64"), &traits(Abi::riscv64));
  EXPECT_EQ(find_abi(243, ByteOrder::little), &traits(Abi::riscv64));
  EXPECT_EQ(find_abi(243, ByteOrder::big), nullptr);
  ASSERT_NE(unwind::find_unwind_abi(Abi::riscv64), nullptr);
  EXPECT_EQ(unwind::find_unwind_abi(Abi::riscv64)->register_names[10], "a0");
  EXPECT_TRUE(core::has_register_layout(243));
  const std::array<std::byte, 4> instruction{std::byte{0x13}, std::byte{0x01}, std::byte{0x01},
                                             std::byte{0xff}};
  EXPECT_EQ(code::instruction_text(traits(Abi::riscv64), instruction, 0), "13 01 01 ff");
}

TEST(Extension, EveryVersionAndAbiIsWrittenAndReadBack) {
  for (const VersionTraits* version : all_versions()) {
    if (!version->has_outermost_rows) continue;
    for (const AbiTraits* abi : all_abis())
      for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        SCOPED_TRACE(testing::Message() << int{version->number} << ' ' << abi->name);
        const VersionNumber number{version->number};
        const auto bytes = build(number, *abi, order);
        expect_functions(bytes, number, *abi);
        EXPECT_EQ(bytes.size(), build(number, *abi, ByteOrder::little).size());
      }
  }
}

TEST(Extension, SwappingTheByteOrderTwiceGivesTheInput) {
  const AbiTraits& abi = traits(Abi::riscv64);
  const auto bytes = build(VersionNumber::v4, abi, ByteOrder::little);
  const auto swapped = flip_byte_order(bytes);
  ASSERT_TRUE(swapped);
  EXPECT_EQ(*swapped, build(VersionNumber::v4, abi, ByteOrder::big));
  EXPECT_EQ(*flip_byte_order(*swapped), bytes);
}

TEST(Extension, ConvertsToAndFromOtherVersions) {
  const AbiTraits& abi = traits(Abi::riscv64);
  for (const VersionNumber other : {VersionNumber::v2, VersionNumber::v3}) {
    const auto bytes = build(VersionNumber::v4, abi, ByteOrder::little);
    const Section section = *Section::parse(bytes, address);
    const auto older = convert({&section, 1}, {.version = other, .abi = abi.id}, address);
    ASSERT_TRUE(older);
    EXPECT_TRUE(older->refused.empty());
    EXPECT_EQ(older->bytes, build(other, abi, ByteOrder::little));
    const Section back = *Section::parse(older->bytes, address);
    const auto newer = convert({&back, 1}, {.version = VersionNumber::v4, .abi = abi.id}, address);
    ASSERT_TRUE(newer);
    EXPECT_EQ(newer->bytes, bytes);
  }
}

// The layout that v4.cc describes, byte by byte.
TEST(Extension, WritesTheDescribedLayout) {
  Builder builder({.version = VersionNumber::v4, .abi = Abi::riscv64});
  const FrameRow row = traits(Abi::riscv64).entry_row();
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 0x20}, {&row, 1}));
  const auto bytes = builder.finish(0);
  ASSERT_TRUE(bytes);
  const auto u8 = [&](std::size_t at) { return std::to_integer<int>((*bytes)[at]); };
  EXPECT_EQ(u8(header_offset::version), 4);
  EXPECT_EQ(u8(header_offset::abi), 5);
  EXPECT_EQ(load<std::int32_t>(&(*bytes)[header_size], ByteOrder::little), 0x1000 - 28);
  EXPECT_EQ(load<std::uint32_t>(&(*bytes)[header_size + 4], ByteOrder::little), 0x20u);
  EXPECT_EQ(u8(header_size + 12), 0);     // info: FRE type ADDR1
  EXPECT_EQ(u8(header_size + 12 + 3), 1); // rows
  EXPECT_EQ(bytes->size(), header_size + 12u + 5 + 3);
}

} // namespace
