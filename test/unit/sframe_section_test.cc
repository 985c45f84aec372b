// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading: sections assembled byte by byte from the specification.

#include "inputs.h"
#include "sframe/builder.h"
#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace sframe {
namespace sframe_section_test {

using test::hex;

/// Three at a time.
std::vector<FrameRow> several_rows(const Section& section, const EncodedFde& fde) {
  std::vector<FrameRow> rows;
  std::array<FrameRow, 3> next;
  RowCursor cursor = section.rows(fde);
  while (const std::size_t count = cursor.next(next))
    for (const FrameRow& row : std::span(next).first(count)) rows.push_back(row);

  std::vector<FrameRow> with_infos;
  std::array<std::uint8_t, next.size()> infos;
  RowCursor encoded = section.rows(fde);
  cursor = section.rows(fde);
  while (const std::size_t count = cursor.next(next, infos))
    for (std::size_t i = 0; i < count; ++i) {
      with_infos.push_back(next[i]);
      EncodedRow row;
      EXPECT_TRUE(encoded.next(row));
      EXPECT_EQ(infos[i], row.info);
    }
  EXPECT_EQ(with_infos, rows);
  EXPECT_EQ(cursor.section_offset(), encoded.section_offset());
  return rows;
}

std::vector<FrameRow> all_rows(const Section& section, const EncodedFde& fde) {
  std::vector<FrameRow> rows;
  RowCursor cursor = section.rows(fde);
  for (FrameRow row; cursor.next(row);) rows.push_back(row);
  EXPECT_FALSE(cursor.error()) << describe(*cursor.error());
  EXPECT_EQ(several_rows(section, fde), rows);
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
    20000000 20000000 03000000 01000000 10   # PCMASK: repeats after 16 bytes, which V1 does not store
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
  const auto v3 = test::case_section("outermost-function-v3-amd64");
  auto section = Section::parse(v3);
  ASSERT_TRUE(section);
  auto match = section->find(0x1003);
  ASSERT_TRUE(match && *match);
  EXPECT_TRUE((*match)->row.is_outermost());

  const auto v2 = test::case_section("no-rows-v2-amd64");
  section = Section::parse(v2);
  ASSERT_TRUE(section);
  EXPECT_FALSE(section->find(0x1003)->has_value());
}

TEST(Section, SearchesAnUnsortedSectionToo) {
  const auto falling = test::case_section("unsorted-v3-amd64-flag-0");
  auto section = Section::parse(falling);
  ASSERT_TRUE(section);
  EXPECT_FALSE(section->sorted());
  EXPECT_EQ((*section->find(0x101f))->fde.number, 2u);
  EXPECT_FALSE(section->find(0x1020)->has_value());
  auto bytes = hex(v2_amd64);
  bytes[3] = std::byte{0};
  section = Section::parse(bytes);
  ASSERT_TRUE(section);
  EXPECT_TRUE(section->find(0x1004)->has_value());
  EXPECT_FALSE(section->find(0x1020)->has_value());
}

TEST(Section, FindsFunctionNextToEmptyOne) {
  const auto bytes = test::case_section("empty-function-v3-amd64");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  EXPECT_FALSE(section->find(0x1010)->has_value());
  auto match = section->find(0x1028);
  ASSERT_TRUE(match && *match);
  EXPECT_EQ((*match)->fde.number, 3u);
  EXPECT_EQ((*match)->row.cfa, Rule::value(7, 24));
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

TEST(Section, GarbageAfterSectionIsAnError) {
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

// The preamble (magic, version, flags: 4 bytes) identifies the bytes; then the header must be there.
TEST(Section, Magic) {
  const auto fault_of = [](std::span<const std::byte> bytes) {
    const auto section = Section::parse(bytes);
    return section ? std::nullopt : std::optional(section.error());
  };
  const auto header_only = hex("e2de 03 01  03 00 f8 00  00000000 00000000 00000000 00000000 00000000");
  EXPECT_FALSE(fault_of(header_only));
  for (std::size_t size : {0, 1, 2, 3, 4, 27})
    EXPECT_EQ(fault_of(std::span(header_only).first(size)), (Error{ErrorKind::truncated_header, size}));
  EXPECT_EQ(fault_of(hex("e2df 0301")), (Error{ErrorKind::bad_magic, 0})) << "four bytes are enough to know";
  EXPECT_EQ(fault_of(hex("e2de 0401")), (Error{ErrorKind::unknown_version, 2}));
  auto other = header_only;
  other[4] = std::byte{5};
  EXPECT_EQ(fault_of(other), (Error{ErrorKind::unknown_abi, 4}));
  // An auxiliary header of two bytes: there to the last byte, or not.
  other = header_only;
  other[7] = std::byte{2};
  other.resize(30);
  EXPECT_FALSE(fault_of(other));
  EXPECT_EQ(Section::parse(other)->aux_header().size(), 2u);
  EXPECT_EQ(fault_of(std::span(other).first(29)), (Error{ErrorKind::truncated_header, 29}));

  EXPECT_TRUE(has_magic(hex("e2de")));
  EXPECT_TRUE(has_magic(hex("dee2 00")));
  EXPECT_FALSE(has_magic(hex("e2")));
  EXPECT_FALSE(has_magic(hex("dede 0000")));
}

// One FDE of 16 bytes and 8 bytes of its data, as version 3 has them: each may come first, with bytes
// between.
TEST(Section, SubSectionsMustNotOverlap) {
  const auto fault_at = [](std::uint32_t index, std::uint32_t rows) {
    auto bytes = hex("e2de 03 01  03 00 f8 00  01000000 01000000 08000000");
    for (const std::uint32_t at : {index, rows})
      for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::byte>(at >> shift));
    bytes.resize(28 + 64);
    const auto section = Section::parse(bytes);
    if (section) {
      EXPECT_EQ(section->bytes().size(), 28 + std::max(index + 16, rows + 8));
    }
    return section ? std::nullopt : std::optional(section.error().kind);
  };
  const auto sound = std::optional<ErrorKind>();
  EXPECT_EQ(fault_at(0, 16), sound);
  EXPECT_EQ(fault_at(0, 15), ErrorKind::overlap);
  EXPECT_EQ(fault_at(8, 0), sound);
  EXPECT_EQ(fault_at(7, 0), ErrorKind::overlap);
  EXPECT_EQ(fault_at(48, 0), sound) << "to the last byte";
  EXPECT_EQ(fault_at(49, 0), ErrorKind::index_out_of_bounds);
  EXPECT_EQ(fault_at(0, 56), sound);
  EXPECT_EQ(fault_at(0, 57), ErrorKind::rows_out_of_bounds);
}

// sfh_flags 0x4 (FUNC_START_PCREL) came with version 2: version 1 gives it no meaning.
TEST(Section, Version1StartsAreRelativeToTheSection) {
  const auto bytes = hex(R"(
    e2de 01 05  03 00 f8 00  01000000 01000000 03000000 00000000 11000000
    00100000 10000000 00000000 01000000 00   00 03 08)");
  const auto section = Section::parse(bytes, 0x400000);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->fde(0)->start, 0x401000u);
  EXPECT_TRUE(section->find(0x401000)->has_value());
}

// Bits 0x1 SORTED and 0x2 FRAME_POINTER of versions 1 and 2, 0x4 FUNC_START_PCREL of versions 2 and 3.
TEST(Section, FlagsOfEachVersion) {
  for (const auto& [version, flags] : {std::pair{"01", 0x3}, std::pair{"02", 0x7}, std::pair{"03", 0x5}}) {
    const auto bytes =
        hex("e2de " + std::string(version) + "01  03 00 f8 00  00000000 00000000 00000000 00000000 00000000");
    const auto section = Section::parse(bytes);
    ASSERT_TRUE(section);
    EXPECT_EQ(section->version().flags, flags) << version;
  }
}

// sfde_func_padding2: has no meaning, is shown by dumps and kept by conversions of the byte order.
TEST(Section, Version2KeepsItsPadding) {
  auto bytes = hex(v2_amd64);
  bytes[28 + 18] = std::byte{0x34};
  bytes[28 + 19] = std::byte{0x12};
  EXPECT_EQ(Section::parse(bytes)->fde(0)->padding, 0x1234);
  const auto flipped = flip_byte_order(bytes);
  ASSERT_TRUE(flipped);
  EXPECT_EQ(Section::parse(*flipped)->fde(0)->padding, 0x1234);
}

// The words as they stand: signed, and unsigned for control words; 2-byte words at +4.
TEST(Section, WordsOfAnEncodedRow) {
  const auto bytes = hex(R"(
    e2de 02 01  02 00 00 00  01000000 02000000 0d000000 00000000 14000000
    00100000 20000000 00000000 02000000 00 00 0000
    00 07 10 f0 fe          # 3 words of a byte
    04 a6 0040 feff 0080    # the same count of 2 bytes, FP-based, RA signed
  )");
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  RowCursor rows = section->rows(*section->fde(0));
  EncodedRow row;
  ASSERT_TRUE(rows.next(row));
  EXPECT_TRUE(row.sp_based());
  EXPECT_FALSE(row.ra_signed());
  EXPECT_EQ(row.word_count(), 3u);
  EXPECT_EQ(row.word_size(), 1u);
  EXPECT_EQ(row.section_offset, 48u);
  EXPECT_EQ(row.size, 5u);
  EXPECT_EQ(row.number, 0u);
  EXPECT_EQ((std::vector{row.word(0), row.word(1), row.word(2)}), (std::vector{16, -16, -2}));
  EXPECT_EQ(row.control(2), 0xfeu);
  ASSERT_TRUE(rows.next(row));
  EXPECT_FALSE(row.sp_based());
  EXPECT_TRUE(row.ra_signed());
  EXPECT_EQ(row.word_size(), 2u);
  EXPECT_EQ(row.section_offset, 53u);
  EXPECT_EQ(row.size, 8u);
  EXPECT_EQ(row.number, 1u);
  EXPECT_EQ((std::vector{row.word(0), row.word(1), row.word(2)}), (std::vector{0x4000, -2, -32768}));
  EXPECT_EQ(row.control(1), 0xfffeu);
  EXPECT_FALSE(rows.next(row));
  EXPECT_FALSE(rows.error());
}

// The second of two functions is damaged in one way each: which entry, and where.
TEST(Section, CheckIndexGivesTheFirstBadEntry) {
  const auto fault_with = [](const std::string& entry, const std::string& attributes) {
    const auto bytes = hex("e2de 03 01  03 00 f8 00  02000000 02000000 10000000 00000000 20000000"
                           "0010000000000000 10000000 00000000" +
                           entry + "0100 00 00 00 00 03 08" + attributes + "00 03 08");
    const auto section = Section::parse(bytes);
    EXPECT_TRUE(section);
    EXPECT_EQ(section->fde(2), unexpected(Error{ErrorKind::no_such_function, 60, 2}));
    const auto fault = section->check_index();
    // A search in an index that is not sorted comes to every entry.
    auto unsorted = bytes;
    unsorted[3] = std::byte{0};
    const auto found = Section::parse(unsorted)->find(0x5000);
    EXPECT_EQ(found.has_value(), !fault);
    if (!found) {
      EXPECT_EQ(found.error(), fault);
    }
    return fault;
  };
  const std::string entry = "0020000000000000 10000000 08000000 ", sound = "0100 00 00 00";
  EXPECT_EQ(fault_with(entry, sound), std::nullopt);
  EXPECT_EQ(fault_with(entry, "0100 03 00 00"), (Error{ErrorKind::bad_fre_type, 60 + 8, 1}));
  EXPECT_EQ(fault_with(entry, "0100 02 00 00"), std::nullopt);
  EXPECT_EQ(fault_with(entry, "0100 00 02 00"), (Error{ErrorKind::bad_fde_type, 60 + 8, 1}));
  EXPECT_EQ(fault_with(entry, "0100 10 00 00"), (Error{ErrorKind::bad_rep_size, 60 + 8, 1}));
  EXPECT_EQ(fault_with(entry, "0100 10 00 01"), std::nullopt) << "blocks of one byte";
  // The first entry counts as well.
  auto first = hex("e2de 03 01  03 00 f8 00  02000000 02000000 10000000 00000000 20000000"
                   "0010000000000000 10000000 00000000" +
                   entry + "0100 03 00 00 00 03 08" + sound + "00 03 08");
  EXPECT_EQ(Section::parse(first)->check_index(), (Error{ErrorKind::bad_fre_type, 60, 0}));
  // Attributes have 5 bytes: they fit at 11 of 16, not at 12.
  const std::string at = "0020000000000000 10000000 ";
  EXPECT_EQ(fault_with(at + "0c000000", sound), (Error{ErrorKind::function_rows_out_of_bounds, 44, 1}));
  EXPECT_NE(fault_with(at + "0b000000", sound), (Error{ErrorKind::function_rows_out_of_bounds, 44, 1}));
}

TEST(Section, FindsEachOfManyFunctions) {
  // n functions of 16 bytes, 32 apart; each with a CFA of its own. Starts count from the section, or from the
  // field.
  for (const bool pcrel : {false, true})
    for (std::uint32_t n : {1, 2, 3, 4, 7, 20}) {
      std::string index, rows;
      const auto digits = [](std::uint32_t value, int bytes) {
        std::string text;
        for (int i = 0; i < bytes; ++i, value >>= 8) {
          const char* const hexadecimal = "0123456789abcdef";
          text += hexadecimal[value >> 4 & 15];
          text += hexadecimal[value & 15];
        }
        return text;
      };
      for (std::uint32_t i = 0; i < n; ++i) {
        index += digits(0x1000 + i * 32 - (pcrel ? 28 + i * 20 : 0), 4) + digits(16, 4) + digits(i * 3, 4) +
                 digits(1, 4) + "00 00 0000";
        rows += "00 03" + digits(i, 1);
      }
      auto bytes = hex("e2de 02 " + std::string(pcrel ? "05" : "01") + "03 00 f8 00" + digits(n, 4) +
                       digits(n, 4) + digits(n * 3, 4) + "00000000" + digits(n * 20, 4) + index + rows);
      for (const bool sorted : {true, false}) {
        if (!sorted) bytes[3] &= ~std::byte{flag_sorted};
        const auto section = Section::parse(bytes, 0x400000);
        ASSERT_TRUE(section) << describe(section.error());
        EXPECT_FALSE(section->check_index());
        for (std::uint32_t i = 0; i < n; ++i) {
          const std::uint64_t start = 0x401000 + i * 32;
          EXPECT_EQ(section->fde_start(i), start);
          const AddressRange range = section->fde_range(i);
          EXPECT_EQ(range.start, start);
          EXPECT_EQ(range.size, 16u);
          for (const std::uint64_t pc : {start, start + 15}) {
            const auto match = section->find(pc);
            ASSERT_TRUE(match && *match);
            EXPECT_EQ((*match)->fde.number, i);
            EXPECT_EQ((*match)->row.cfa, Rule::value(7, static_cast<std::int32_t>(i)));
          }
          EXPECT_FALSE(section->find(start - 1)->has_value());
          EXPECT_FALSE(section->find(start + 16)->has_value());
        }
      }
    }
}

// Rows at 0 and 5 of each block of 6 bytes: the last offset there is. One at 6 is in no block.
// In a big index the place is computed from the address, which is wrong where functions are not spread
// evenly.
TEST(Section, FindsFunctionsOfAnyDistribution) {
  std::mt19937_64 random(3);
  const std::vector<std::function<std::uint64_t(std::uint32_t)>> gaps = {
      [](std::uint32_t) { return 16; },
      [&](std::uint32_t) { return 1 + random() % 64; },
      [](std::uint32_t i) { return i == 1500 ? 0x2000'0000 : 16; }, // one gap
      [](std::uint32_t i) { return i > 2900 ? 0x10'0000 : 1; },     // sparse at the end
      [](std::uint32_t i) { return i < 100 ? 0x10'0000 : 1; },      // and at the start
      [](std::uint32_t i) { return 1 + i * i / 64; },               // ever sparser
      [&](std::uint32_t) { return std::uint64_t{1} << random() % 20; }};
  for (const VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
    for (std::size_t number = 0; number < gaps.size(); ++number) {
      for (const std::uint64_t address : {std::uint64_t{0x100'0000}, std::uint64_t{0x2000'0000}}) {
        Builder builder({.version = version, .pcrel = number % 2 == 0});
        std::vector<std::uint64_t> starts;
        std::uint64_t start = 0x1000'0000;
        const FrameRow row = traits(Abi::amd64).entry_row();
        for (std::uint32_t i = 0; i < 3000; ++i, start += gaps[number](i)) {
          starts.push_back(start);
          ASSERT_TRUE(builder.add({.start = start, .size = 1}, {&row, 1}));
        }
        const auto bytes = builder.finish(address);
        ASSERT_TRUE(bytes);
        const auto section = Section::parse(*bytes, address);
        const auto check = [&](std::uint64_t pc) {
          const auto found = section->find_fde(pc);
          ASSERT_TRUE(found);
          const bool exists = std::ranges::binary_search(starts, pc);
          ASSERT_EQ(found->has_value(), exists) << number << std::hex << " " << pc;
          if (exists) {
            ASSERT_EQ((*found)->start, pc);
          }
        };
        for (const std::uint64_t pc : starts) {
          check(pc);
          check(pc + 1);
          check(pc - 1);
        }
        for (const std::uint64_t pc : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63})
          check(pc);
      }
    }
  }
}

TEST(Section, BlockRowsStayInBlock) {
  for (const auto& [offset, sound] : {std::pair{"05", true}, std::pair{"06", false}}) {
    const auto bytes = hex(std::string(R"(
      e2de 02 01  03 00 f8 00  01000000 02000000 06000000 00000000 14000000
      00100000 20000000 00000000 02000000 10 06 0000   00 03 08 )") +
                           offset + "03 10");
    const auto section = Section::parse(bytes);
    ASSERT_TRUE(section);
    RowCursor rows = section->rows(*section->fde(0));
    FrameRow row;
    ASSERT_TRUE(rows.next(row));
    EXPECT_EQ(rows.next(row), sound);
    EXPECT_FALSE(rows.at_function_end()) << "which blocks do not have";
    if (!sound) {
      EXPECT_EQ(rows.error(), (Error{ErrorKind::row_past_end, 51, 0, 1}));
      continue;
    }
    EXPECT_EQ((*section->find(0x100a))->row.offset, 0u);
    EXPECT_EQ((*section->find(0x100b))->row.offset, 5u);
  }
}

TEST(Section, SeveralRowsEndBeforeABadOne) {
  // The third row of four does not start after the second.
  const auto bytes = hex(R"(
    e2de 02 01  03 00 f8 00  01000000 04000000 0c000000 00000000 14000000
    00100000 20000000 00000000 04000000 00 00 0000   00 03 08  04 03 10  04 03 18  08 03 20)");
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  std::array<FrameRow, 4> rows;
  RowCursor cursor = section->rows(*section->fde(0));
  EXPECT_EQ(cursor.next(std::span<FrameRow>()), 0u);
  ASSERT_EQ(cursor.next(rows), 2u);
  EXPECT_EQ(rows[1], (FrameRow{4, Rule::value(7, 16), Rule::fixed(), Rule::same()}));
  EXPECT_EQ(cursor.error(), (Error{ErrorKind::row_order, 54, 0, 2}));
  EXPECT_EQ(cursor.next(rows), 0u);
}

// Blocks of two bytes, with a row at the second byte.
TEST(Section, ARowAtTheSecondByteOfABlockIsNotAtTheEnd) {
  const auto bytes = hex(R"(
    e2de 02 01  03 00 f8 00  01000000 02000000 06000000 00000000 14000000
    00100000 20000000 00000000 02000000 10 02 0000   00 03 08  01 03 10)");
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  RowCursor rows = section->rows(*section->fde(0));
  for (FrameRow row; rows.next(row);) EXPECT_FALSE(rows.at_function_end());
  EXPECT_FALSE(rows.error());
}

// What find() does inside a function: to the last row at or before the offset, and no further.
TEST(Section, FindSkipsRowsOfEachSize) {
  // ADDR2 offsets; words of 1, 2 and 4 bytes, none to three of them. AArch64: CFA, RA, FP.
  const auto bytes = hex(R"(
    e2de 02 01  02 00 00 00  01000000 06000000 28000000 00000000 14000000
    00100000 00010000 00000000 06000000 01 00 0000
    0000 03 00
    0400 05 10 f0
    0800 27 2000 e0ff e8ff
    0c00 47 30000000 d0ffffff d8ffffff
    1000 00
    0001 03 08)");
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  const auto found = [&](std::uint64_t pc) {
    const auto match = section->find(pc);
    EXPECT_TRUE(match && *match) << pc;
    return match && *match ? (*match)->row : FrameRow{};
  };
  const auto fp_and_ra = [](std::uint32_t offset, std::int32_t cfa, Rule ra, Rule fp) {
    return FrameRow{offset, Rule::value(31, cfa), ra, fp, false};
  };
  EXPECT_EQ(found(0x1003), fp_and_ra(0, 0, Rule::same(), Rule::same()));
  EXPECT_EQ(found(0x1004), fp_and_ra(4, 16, Rule::at_cfa(-16), Rule::same()));
  EXPECT_EQ(found(0x1008), fp_and_ra(8, 32, Rule::at_cfa(-32), Rule::at_cfa(-24)));
  EXPECT_EQ(found(0x100f), fp_and_ra(12, 48, Rule::at_cfa(-48), Rule::at_cfa(-40)));
  EXPECT_EQ(found(0x1010), FrameRow::outermost(16));
  EXPECT_EQ(found(0x10ff), FrameRow::outermost(16)) << "the row at 0x100 holds nowhere";
}

// Faults that find() comes to, and those that lie further on.
TEST(Section, FindReportsErrors) {
  const auto found = [](const std::string& num_rows, const std::string& rows, std::uint64_t pc) {
    const auto encoded = hex(rows);
    auto bytes = hex("e2de 02 01  03 00 f8 00  01000000" + num_rows);
    bytes.push_back(static_cast<std::byte>(encoded.size()));
    for (const std::byte byte :
         hex("000000 00000000 14000000  00100000 20000000 00000000" + num_rows + "00 00 0000"))
      bytes.push_back(byte);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    const auto section = Section::parse(bytes);
    EXPECT_TRUE(section);
    return section->find(pc);
  };
  const std::string two = "02000000", three = "03000000";
  // The row itself is cut.
  EXPECT_EQ(found(two, "00 03 08  04 03", 0x1004), unexpected(Error{ErrorKind::truncated_row, 51, 0, 1}));
  EXPECT_TRUE(found(two, "00 03 08  04 03 10", 0x1004)->has_value()) << "there to the last byte";
  // A cut row ahead does not matter to those before it.
  EXPECT_EQ((*found(two, "00 03 08  04 03", 0x1003))->row.offset, 0u);
  EXPECT_EQ(found("01000000", "00", 0x1000), unexpected(Error{ErrorKind::truncated_row, 48, 0, 0}));
  EXPECT_EQ(found(two, "00 03 08  04 63 10 10 10 10 10 10 10 10", 0x1004),
            unexpected(Error{ErrorKind::bad_dataword_size, 51, 0, 1}));
  EXPECT_EQ(found(three, "00 03 08  04 0b 10 f0 f0 f0 f0  08 03 08", 0x1004),
            unexpected(Error{ErrorKind::bad_dataword_count, 51, 0, 1}));
  EXPECT_EQ((*found(three, "00 03 08  04 0b 10 f0 f0 f0 f0  08 03 08", 0x1008))->row.offset, 8u);
  EXPECT_FALSE(found(two, "02 03 08  04 03 10", 0x1001)->has_value()) << "before the first row";
}

TEST(Section, CursorStopsAtError) {
  auto bytes = hex(v2_amd64);
  bytes[28 + 20 + 4] = std::byte{0x65}; // size code 3 in the second row
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  RowCursor rows = section->rows(*section->fde(0));
  FrameRow row;
  ASSERT_TRUE(rows.next(row));
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(rows.next(row));
    EXPECT_EQ(rows.error(), (Error{ErrorKind::bad_dataword_size, 51, 0, 1}));
  }
  // A row that can be read but has no meaning: five words.
  bytes = hex(v2_amd64);
  bytes[28 + 20 + 4] = std::byte{0x0b};
  const auto other = Section::parse(bytes);
  ASSERT_TRUE(other);
  RowCursor words = other->rows(*other->fde(0));
  ASSERT_TRUE(words.next(row));
  EXPECT_FALSE(words.next(row));
  EXPECT_EQ(words.error(), (Error{ErrorKind::bad_dataword_count, 51, 0, 1}));
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

} // namespace sframe_section_test
} // namespace sframe
