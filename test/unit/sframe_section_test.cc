// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading: sections written out byte by byte from the specification.

#include "inputs.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

namespace sframe {
namespace {

using test::hex;

std::vector<FrameRow> all_rows(const Section& section, const EncodedFde& fde) {
  std::vector<FrameRow> rows;
  RowCursor cursor = section.rows(fde);
  for (FrameRow row; cursor.next(row);) rows.push_back(row);
  EXPECT_FALSE(cursor.error()) << describe(*cursor.error());
  return rows;
}

// V2, little-endian, AMD64, one function at section + 0x1000.
const char* const v2_amd64 = R"(
  e2de 02 01            # magic, version 2, SORTED
  03 00 f8 00           # AMD64, fixed FP 0, fixed RA -8, no auxiliary header
  01000000 03000000     # 1 FDE, 3 FREs
  0c000000              # 12 bytes of FREs
  00000000 14000000     # FDEs at 0, FREs at 20
  00100000 20000000     # start 0x1000, size 32
  00000000 03000000     # first FRE at 0, 3 FREs
  00 00 0000            # ADDR1, PCINC
  00 03 08              # +0: CFA = SP + 8
  01 05 10 f0           # +1: CFA = SP + 16, FP at CFA - 16
  04 04 10 f0           # +4: CFA = FP + 16, FP at CFA - 16, and a byte that no row uses
  00
)";

TEST(Section, ReadsVersion2) {
  const auto bytes = hex(v2_amd64);
  auto section = Section::parse(bytes, 0x400000);
  ASSERT_TRUE(section) << describe(section.error());
  EXPECT_EQ(section->header().version, 2);
  EXPECT_EQ(section->abi().id, Abi::amd64);
  EXPECT_TRUE(section->sorted());
  EXPECT_EQ(section->header().fixed_ra_offset, -8);
  EXPECT_EQ(section->bytes().size(), 60u);
  auto fde = section->fde(0);
  ASSERT_TRUE(fde);
  EXPECT_EQ(fde->start, 0x401000u);
  EXPECT_EQ(fde->size, 32u);
  EXPECT_EQ(fde->num_fres, 3u);
  const auto rows = all_rows(*section, *fde);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (FrameRow{0, Rule::value(7, 8), Rule::fixed(), Rule::same(), false}));
  EXPECT_EQ(rows[1], (FrameRow{1, Rule::value(7, 16), Rule::fixed(), Rule::at_cfa(-16), false}));
  EXPECT_EQ(rows[2], (FrameRow{4, Rule::value(6, 16), Rule::fixed(), Rule::at_cfa(-16), false}));
}

TEST(Section, FindsTheRowForAnAddress) {
  const auto bytes = hex(v2_amd64);
  auto section = Section::parse(bytes, 0x400000);
  ASSERT_TRUE(section);
  const auto offset_at = [&](std::uint64_t pc) -> std::int64_t {
    auto match = section->find(pc);
    EXPECT_TRUE(match);
    return *match ? std::int64_t{(*match)->row.offset} : -1;
  };
  EXPECT_EQ(offset_at(0x400fff), -1);
  EXPECT_EQ(offset_at(0x401000), 0);
  EXPECT_EQ(offset_at(0x401001), 1);
  EXPECT_EQ(offset_at(0x401003), 1);
  EXPECT_EQ(offset_at(0x40101f), 4);
  EXPECT_EQ(offset_at(0x401020), -1);
}

TEST(Section, StartsRelativeToTheirField) {
  auto bytes = hex(v2_amd64);
  bytes[3] = std::byte{flag_sorted | flag_func_start_pcrel};
  auto section = Section::parse(bytes, 0x400000);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->fde(0)->start, 0x400000u + 28 + 0x1000);
}

TEST(Section, ReadsVersion1WithItsPackedEntries) {
  const auto bytes = hex(R"(
    e2de 01 01  03 00 f8 00
    02000000 02000000  06000000  00000000 22000000
    10000000 10000000 00000000 01000000 00   # 17 bytes each
    20000000 20000000 03000000 01000000 10   # PCMASK: repeats after 16 bytes, which V1 does not say
    00 03 08
    0b 03 10
  )");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  auto fde = section->fde(1);
  ASSERT_TRUE(fde);
  EXPECT_EQ(fde->start, 0x20u);
  EXPECT_EQ(fde->pc_type, PcType::mask);
  EXPECT_EQ(fde->rep_size, 16);
  EXPECT_FALSE(section->find(0x2a)->has_value()) << "before the block's first row";
  EXPECT_EQ((*section->find(0x2b))->row.cfa, Rule::value(7, 16));
  EXPECT_FALSE(section->find(0x35)->has_value()) << "the second block";
  EXPECT_TRUE(section->find(0x3f)->has_value());
}

TEST(Section, ReadsVersion3BigEndianWithFlexibleRows) {
  const auto bytes = hex(R"(
    dee2 03 05  01 00 00 00                     # AArch64 big-endian, SORTED | PCREL
    00000002 00000005 00000036 00000000 00000020
    ffffffffffff0000 00000100 00000000          # start = field - 0x10000
    0000000000000100 00000010 0000002f          # start = field + 0x100
    0004 a0 01 00                               # 4 rows, signal frame, key B, flexible
    00 04 f9 00                                 # CFA = sp + 0
    04 8c f9 10 f3 f8 eb f0                     # CFA = sp + 16, RA at [x30 - 8], FP at [x29 - 16], signed
    10 2a 004b fff8 0000 0002 fff0              # CFA at [x9 - 8] in 2-byte words, no RA rule, FP at CFA - 16
    20 48 00000049 00000000 00000051 00000000   # CFA = x9 + 0, RA in x10
    0001 00 00 00                               # 1 row
  )"
                         "00 00"); // outermost
  auto section = Section::parse(bytes, 0x100000);
  ASSERT_TRUE(section) << describe(section.error());
  EXPECT_EQ(section->header().byte_order, ByteOrder::big);
  auto fde = section->fde(0);
  ASSERT_TRUE(fde) << describe(fde.error());
  EXPECT_EQ(fde->start, 0x100000u + 28 - 0x10000);
  EXPECT_TRUE(fde->signal_frame);
  EXPECT_EQ(fde->pauth_key, PauthKey::b);
  EXPECT_EQ(fde->fde_type, FdeType::flex);
  const auto rows = all_rows(*section, *fde);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], (FrameRow{0, Rule::value(31, 0), Rule::same(), Rule::same(), false}));
  EXPECT_EQ(rows[1], (FrameRow{4, Rule::value(31, 16), Rule::stored(30, -8), Rule::stored(29, -16), true}));
  EXPECT_EQ(rows[2], (FrameRow{16, Rule::stored(9, -8), Rule::same(), Rule::at_cfa(-16), false}));
  EXPECT_EQ(rows[3], (FrameRow{32, Rule::value(9, 0), Rule::in_register(10), Rule::same(), false}));
  const auto second = section->fde(1);
  ASSERT_TRUE(second) << describe(second.error());
  EXPECT_EQ(second->start, 0x100000u + 28 + 16 + 0x100);
  EXPECT_EQ(all_rows(*section, *second), std::vector{FrameRow::outermost(0)});
}

TEST(Section, ScalesTheCfaOnS390x) {
  const auto bytes = hex(R"(
    dee2 02 01  04 00 00 00
    00000001 00000005 00000017 00000000 00000014
    00000000 00000040 00000000 00000005 00 00 0000
    00 03 00                # CFA = SP + 0 * 8 + 160
    06 05 02 d0             # CFA = SP + 176, RA at CFA - 48
    0c 06 14 00 b8          # CFA = FP + 320, RA not saved, FP at CFA - 72
    12 07 00 21 23          # registers: RA in 16, FP in 17
    18 07 00 00 23          # RA not saved, FP in 17
  )"
                         "00");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  const auto rows = all_rows(*section, *section->fde(0));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0], (FrameRow{0, Rule::value(15, 160), Rule::same(), Rule::same(), false}));
  EXPECT_EQ(rows[1], (FrameRow{6, Rule::value(15, 176), Rule::at_cfa(-48), Rule::same(), false}));
  EXPECT_EQ(rows[2], (FrameRow{12, Rule::value(11, 320), Rule::same(), Rule::at_cfa(-72), false}));
  EXPECT_EQ(rows[3],
            (FrameRow{18, Rule::value(15, 160), Rule::in_register(16), Rule::in_register(17), false}));
  EXPECT_EQ(rows[4], (FrameRow{24, Rule::value(15, 160), Rule::same(), Rule::in_register(17), false}));
}

TEST(Section, AFunctionWithoutRowsIsOutermostInVersion3Only) {
  const auto v3 = hex(R"(
    e2de 03 05  03 00 f8 00  01000000 00000000 05000000 00000000 10000000
    0010000000000000 10000000 00000000   0000 00 00 00)");
  auto section = Section::parse(v3);
  ASSERT_TRUE(section);
  auto match = section->find(0x1000 + 28 + 3);
  ASSERT_TRUE(match && *match);
  EXPECT_TRUE((*match)->row.is_outermost());

  const auto v2 = hex(R"(
    e2de 02 01  03 00 f8 00  01000000 00000000 00000000 00000000 14000000
    00100000 10000000 00000000 00000000 00 00 0000)");
  section = Section::parse(v2);
  ASSERT_TRUE(section);
  EXPECT_FALSE(section->find(0x1003)->has_value());
}

TEST(Section, SearchesAnUnsortedSectionToo) {
  for (const char* name : {"v2-hand-unsorted", "v3-hand-unsorted"}) {
    const auto path = test::inputs() / "amd64" / (std::string(name) + ".sframe");
    if (!std::filesystem::exists(path)) continue;
    const auto bytes = test::read_file(path);
    auto section = Section::parse(bytes);
    ASSERT_TRUE(section);
    EXPECT_FALSE(section->sorted());
  }
  auto bytes = hex(v2_amd64);
  bytes[3] = std::byte{0};
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  EXPECT_TRUE(section->find(0x1004)->has_value());
  EXPECT_FALSE(section->find(0x1020)->has_value());
}

TEST(Section, FindsAFunctionBesideAnEmptyOneAtItsAddress) {
  // V3: an empty function and a real one both start at field-independent 0x1000 (starts relative to the
  // section).
  const auto bytes = hex(R"(
    e2de 03 01  03 00 f8 00  02000000 02000000 10000000 00000000 20000000
    0010000000000000 10000000 00000000
    0010000000000000 00000000 08000000
    0100 00 00 00  00 03 08
    0100 00 00 00  00 03 10)");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  auto match = section->find(0x1008);
  ASSERT_TRUE(match && *match);
  EXPECT_EQ((*match)->fde.number, 0u);
  EXPECT_EQ((*match)->row.cfa, Rule::value(7, 8));
}

TEST(Section, SearchesAroundTheTopOfTheAddressSpace) {
  auto bytes = hex(R"(
    e2de 02 01  03 00 f8 00  02000000 02000000 06000000 00000000 28000000
    00f0ffff 10000000 00000000 01000000 00 00 0000   # section - 0x1000
    00100000 10000000 03000000 01000000 00 00 0000   # section + 0x1000
    00 03 08   00 03 10)");
  for (std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x800}, ~std::uint64_t{0xfff}}) {
    auto section = Section::parse(bytes, address);
    ASSERT_TRUE(section);
    EXPECT_EQ((*section->find(address - 0x1000 + 8))->row.cfa, Rule::value(7, 8));
    EXPECT_EQ((*section->find(address + 0x1000 + 8))->row.cfa, Rule::value(7, 16));
    EXPECT_FALSE(section->find(address)->has_value());
  }
}

TEST(Section, SplitsConcatenatedSections) {
  auto bytes = hex(v2_amd64);
  const auto one = bytes;
  while (bytes.size() % 8) bytes.push_back(std::byte{0});
  const std::size_t second_at = bytes.size();
  bytes.insert(bytes.end(), one.begin(), one.end());
  bytes.resize(bytes.size() + 4); // padding at the end
  Concatenated sections(bytes, 0x400000);
  auto first = sections.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->fde(0)->start, 0x401000u);
  auto second = sections.next();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ(sections.offset(), second_at);
  EXPECT_EQ((*second)->fde(0)->start, 0x401000u + second_at);
  EXPECT_FALSE(sections.next()->has_value());
}

TEST(Section, GarbageBehindASectionIsAnErrorWithItsPlace) {
  auto bytes = hex(v2_amd64);
  bytes.push_back(std::byte{0x7f});
  bytes.resize(bytes.size() + 40, std::byte{1});
  Concatenated sections(bytes, 0);
  ASSERT_TRUE(sections.next());
  auto second = sections.next();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::bad_magic);
  EXPECT_EQ(second.error().offset, 60u);
  EXPECT_FALSE(sections.next()->has_value()) << "the end after an error";
}

TEST(Section, RulesAsText) {
  const AbiTraits& amd64 = traits(Abi::amd64);
  EXPECT_EQ(rule_text(Rule::value(7, 16), amd64, true), "sp+16");
  EXPECT_EQ(rule_text(Rule::value(6, -8), amd64, true), "fp-8");
  EXPECT_EQ(rule_text(Rule::value(10, 0), amd64, true), "r10+0");
  EXPECT_EQ(rule_text(Rule::at_cfa(-8), amd64), "[cfa-8]");
  EXPECT_EQ(rule_text(Rule::stored(6, -24), amd64), "[fp-24]");
  EXPECT_EQ(rule_text(Rule::in_register(14), amd64), "r14");
  EXPECT_EQ(rule_text(Rule::same(), amd64), "same");
  EXPECT_EQ(rule_text(Rule::undefined(), amd64), "undefined");
  EXPECT_EQ(rule_text(Rule::fixed(), amd64), "fixed");
}

} // namespace
} // namespace sframe
