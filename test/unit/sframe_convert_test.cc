// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of sections written by GNU and LLVM tools (test/inputs), and of our own.

#include "inputs.h"
#include "sframe/convert.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace sframe {
namespace sframe_convert_test {

/// A section's contents, however they are encoded: functions by address, rows with fixed rules resolved and
/// repetitions left out.
using Meaning = std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<Fde, std::vector<FrameRow>>>;

Meaning meaning_of(std::span<const Section> sections) {
  Meaning meaning;
  for (const Section& section : sections)
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      auto fde = section.fde(i);
      EXPECT_TRUE(fde);
      std::vector<FrameRow> rows;
      RowCursor cursor = section.rows(*fde);
      for (FrameRow row; cursor.next(row);) {
        row = resolve_fixed(row, section.header().fixed_ra_offset, section.header().fixed_fp_offset);
        if (rows.empty() || !rows.back().same_rules(row)) rows.push_back(row);
      }
      EXPECT_FALSE(cursor.error());
      if (section.outermost_throughout(*fde)) rows.push_back(FrameRow::outermost(0));
      Fde key = *fde;
      if (key.pc_type == PcType::inc) key.rep_size = 0; // has no meaning there
      meaning[{key.start, key.size}] = {key, rows};
    }
  return meaning;
}

struct Fixture {
  std::string name;
  std::vector<std::byte> bytes;
  std::vector<Section> sections;
};

/// Every sound raw section of test/inputs, each read as one or several sections; of the kit's cases those in
/// another byte order than their ABI's.
std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  for (const auto& path : test::inputs_ending(".sframe")) {
    if (path.parent_path().filename() == "cases" && !path.string().contains("-order-foreign")) continue;
    Fixture fixture{path.filename().string(), test::read_file(path), {}};
    Concatenated cursor(fixture.bytes, 0x10000);
    for (;;) {
      auto section = cursor.next();
      EXPECT_TRUE(section) << path << ": " << describe(section.error());
      if (!section || !*section) break;
      fixture.sections.push_back(**section);
    }
    EXPECT_FALSE(fixture.sections.empty()) << path;
    all.push_back(std::move(fixture));
  }
  EXPECT_GE(all.size(), 60u);
  return all;
}

TEST(Convert, FlippingTwiceGivesTheSameBytes) {
  for (const Fixture& fixture : fixtures())
    for (const Section& section : fixture.sections) {
      auto flipped = flip_byte_order(section.bytes());
      ASSERT_TRUE(flipped) << fixture.name << ": " << describe(flipped.error());
      auto other = Section::parse(*flipped, section.address());
      ASSERT_TRUE(other);
      EXPECT_NE(other->header().byte_order, section.header().byte_order);
      EXPECT_EQ(meaning_of({&*other, 1}), meaning_of({&section, 1})) << fixture.name;
      auto back = flip_byte_order(*flipped);
      ASSERT_TRUE(back);
      EXPECT_EQ(*back, std::vector(section.bytes().begin(), section.bytes().end())) << fixture.name;
    }
}

TEST(Convert, FlippingSwapsSharedRowsOnce) {
  for (VersionNumber version : {VersionNumber::v2, VersionNumber::v3}) {
    Builder builder({.version = version, .share_rows = true});
    FrameRow far{300, Rule::value(7, 4000), Rule::fixed(), Rule::at_cfa(-1600), false};
    const FrameRow entry = traits(Abi::amd64).entry_row();
    for (std::uint32_t i = 0; i < 9; ++i)
      ASSERT_TRUE(builder.add({.start = 0x1000 * i, .size = 0x1000}, std::vector{entry, far}));
    const auto bytes = *builder.finish(0);
    auto flipped = flip_byte_order(bytes);
    ASSERT_TRUE(flipped);
    auto before = Section::parse(bytes), after = Section::parse(*flipped);
    ASSERT_TRUE(after);
    EXPECT_EQ(meaning_of({&*before, 1}), meaning_of({&*after, 1}));
    EXPECT_EQ(*flip_byte_order(*flipped), bytes);
  }
}

TEST(Convert, FlippingNeedsNoAddress) {
  // Functions before the section: their addresses wrap if the section is taken to be at 0. Found by fuzzing.
  for (const char* name :
       {"before-section-v2-amd64-pcrel-no", "start-smallest-v3-v3-amd64-pcrel-no", "size-wraps-v2-amd64"}) {
    const auto bytes = test::case_section(name);
    auto flipped = flip_byte_order(bytes);
    ASSERT_TRUE(flipped) << name << ": " << describe(flipped.error());
    EXPECT_EQ(flip_byte_order(*flipped), bytes);
  }
}

TEST(Convert, RowsThatOverlapInPartCannotBeFlipped) {
  // The second function's rows begin with the first one's second row.
  const auto bytes = test::hex(R"(
    e2de 02 01  03 00 f8 00  02000000 03000000 06000000 00000000 28000000
    00100000 10000000 00000000 02000000 00 00 0000
    00200000 10000000 03000000 01000000 00 00 0000
    00 03 08   01 03 10)");
  auto flipped = flip_byte_order(bytes);
  ASSERT_FALSE(flipped);
  EXPECT_EQ(flipped.error().kind, ErrorKind::rows_shared_partly);
  EXPECT_EQ(flipped.error().function, 1u);
}

TEST(Convert, ReencodingKeepsTheMeaning) {
  for (const Fixture& fixture : fixtures())
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big})
      for (std::uint8_t version = 1; version <= 3; ++version) {
        BuildOptions options{
            .version = VersionNumber{version}, .abi = fixture.sections[0].abi().id, .byte_order = order};
        auto converted = convert(fixture.sections, options, 0x30000);
        ASSERT_TRUE(converted) << fixture.name;
        auto section = Section::parse(converted->bytes, 0x30000);
        ASSERT_TRUE(section);
        EXPECT_TRUE(section->sorted());
        EXPECT_EQ(section->header().byte_order, order);
        Meaning expected = meaning_of(fixture.sections);
        Meaning actual = meaning_of({&*section, 1});
        // Parts of functions: FunctionsAreSplitAroundRows.
        for (const RefusedFunction& refused : converted->refused) {
          expected.erase({refused.fde.start, refused.fde.size});
          if (!refused.is_whole())
            std::erase_if(actual, [&](const auto& function) {
              return function.first.second != 0 && refused.fde.contains(function.first.first);
            });
        }
        EXPECT_EQ(actual, expected) << fixture.name << " to version " << int(version);
        for (const RefusedFunction& refused : converted->refused) {
          // Before version 3, a function without rows has no meaning, so there is nothing to convert.
          EXPECT_TRUE(version < 3 || refused.refusal.reason == RefusalReason::no_rows) << fixture.name;
        }
      }
}

TEST(Convert, RefusalsNameFunctionRowAndReason) {
  const auto bytes = test::hex(R"(
    e2de 03 01  03 00 f8 00  02000000 03000000 18000000 00000000 20000000
    0010000000000000 40000000 00000000
    0020000000000000 40000000 10000000
    0200 00 01 00   00 04 39 08   05 04 33 f8    # flexible: CFA at [fp - 8] in the second row
    000000
    0100 80 00 00   00 03 08)"); // signal frame
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  auto converted = convert({&*section, 1}, {.version = VersionNumber::v2}, 0);
  ASSERT_TRUE(converted) << describe(converted.error());
  ASSERT_EQ(converted->refused.size(), 2u);
  EXPECT_EQ(converted->refused[0].refusal, (Refusal{RefusalReason::cfa_rule, 1, 0x1000}));
  EXPECT_EQ(converted->refused[0].range.start, 0x1005u);
  EXPECT_EQ(converted->refused[0].range.size, 0x3bu);
  EXPECT_FALSE(converted->refused[0].is_whole());
  EXPECT_EQ(converted->refused[1].refusal, (Refusal{RefusalReason::signal_frame, Refusal::none, 0x2000}));
  EXPECT_TRUE(converted->refused[1].is_whole());
  // The first row remains.
  EXPECT_EQ(converted->num_fdes, 1u);
  const auto v2 = Section::parse(converted->bytes);
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->fde(0)->start, 0x1000u);
  EXPECT_EQ(v2->fde(0)->size, 5u);
  EXPECT_TRUE(*v2->find(0x1004));
}

// A function around rows that cannot be represented: before, between and after them.
TEST(Convert, FunctionsAreSplitAroundRows) {
  const auto row = [](std::uint32_t offset, Rule cfa) {
    return FrameRow{offset, cfa, Rule::fixed(), Rule::same(), false};
  };
  const Rule plain = Rule::value(7, 16), loaded = Rule::stored(6, -8);
  for (const bool first_is_plain : {true, false}) {
    std::vector<FrameRow> rows;
    std::set<std::uint64_t> kept;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const bool is_plain = i % 2 == (first_is_plain ? 0 : 1);
      rows.push_back(row(i * 8, is_plain ? plain : loaded));
      for (std::uint32_t k = 0; is_plain && k < 8; ++k) kept.insert(0x1000 + i * 8 + k);
    }
    Builder builder({});
    ASSERT_TRUE(builder.add({.start = 0x1000, .size = 48}, rows));
    const auto bytes = *builder.finish(0);
    const auto section = Section::parse(bytes);
    for (const bool version2 : {true, false}) {
      BuildOptions options;
      if (version2)
        options.version = VersionNumber::v2;
      else
        options.usable.loaded_cfa = false;
      const auto converted = convert({&*section, 1}, options, 0);
      ASSERT_TRUE(converted);
      EXPECT_EQ(converted->num_fdes, 3u);
      EXPECT_EQ(converted->refused.size(), 3u);
      const auto again = Section::parse(converted->bytes);
      for (std::uint64_t pc = 0xfff; pc < 0x1031; ++pc) {
        const auto match = again->find(pc);
        ASSERT_TRUE(match);
        ASSERT_EQ(match->has_value(), kept.contains(pc)) << pc;
        if (*match) {
          EXPECT_EQ((*match)->row.cfa, plain);
        }
      }
    }
  }
}

// Repeating blocks count from the function's start: it is left out as a whole.
TEST(Convert, RepeatingFunctionsAreNotSplit) {
  Builder builder({});
  const FrameRow rows[] = {{0, Rule::value(7, 16), Rule::fixed(), Rule::same(), false},
                           {8, Rule::stored(6, -8), Rule::fixed(), Rule::same(), false}};
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 64, .pc_type = PcType::mask, .rep_size = 16}, rows));
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  const auto converted = convert({&*section, 1}, {.version = VersionNumber::v2}, 0);
  ASSERT_TRUE(converted);
  EXPECT_EQ(converted->num_fdes, 0u);
  ASSERT_EQ(converted->refused.size(), 1u);
  EXPECT_TRUE(converted->refused[0].is_whole());
}

// Functions that the caller does not want are not there, are not counted.
TEST(Reencode, Without) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  std::vector<std::byte> bytes[2];
  std::vector<Section> sections;
  for (auto& section : bytes) {
    Builder builder({});
    for (const std::uint64_t start : {0x1000, 0x2000, 0x3000})
      ASSERT_TRUE(builder.add({.start = start, .size = 16}, {&entry, 1}));
    section = *builder.finish(0);
    sections.push_back(*Section::parse(section));
  }
  const FunctionNumber without[] = {{0, 0}, {0, 2}, {1, 0}, {1, 1}};
  const auto made = reencode(sections, {}, 0, 0, without);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->whole, 2u);
  EXPECT_EQ(made->skipped, 0u);
  const auto written = *made->builder.finish(0);
  const auto section = Section::parse(written);
  ASSERT_EQ(section->num_fdes(), 2u);
  EXPECT_EQ(section->fde_start(0), 0x2000u);
  EXPECT_EQ(section->fde_start(1), 0x3000u);
}

// Version 3 represents "outermost throughout" by having no rows, version 2 by a row without words at offset
// 0.
TEST(Convert, OutermostFunctionsGetARowInVersion2) {
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 16}, {}));
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  const auto to_v2 = convert({&*section, 1}, {.version = VersionNumber::v2}, 0);
  ASSERT_TRUE(to_v2);
  EXPECT_TRUE(to_v2->refused.empty());
  const auto v2 = Section::parse(to_v2->bytes);
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->fde(0)->num_fres, 1u);
  for (const std::uint64_t pc : {0x1000, 0x100f}) EXPECT_EQ((*v2->find(pc))->row, FrameRow::outermost(0));
  const auto to_v1 = convert({&*section, 1}, {.version = VersionNumber::v1}, 0);
  ASSERT_TRUE(to_v1);
  ASSERT_EQ(to_v1->refused.size(), 1u);
  EXPECT_EQ(to_v1->refused[0].refusal, (Refusal{RefusalReason::outermost, 0, 0x1000}));
  const auto to_v3 = convert({&*section, 1}, {}, 0);
  ASSERT_TRUE(to_v3);
  EXPECT_EQ(Section::parse(to_v3->bytes)->fde(0)->num_fres, 0u);
}

// Several sections into one: properties are kept where all have them alike.
TEST(Convert, PropertiesThatDifferAreNotKept) {
  const auto with = [](bool frame_pointer, std::vector<std::byte> aux_header) {
    Builder builder(
        {.version = VersionNumber::v2, .frame_pointer = frame_pointer, .aux_header = std::move(aux_header)});
    const FrameRow entry = traits(Abi::amd64).entry_row();
    EXPECT_TRUE(builder.add({.start = 0x1000, .size = 16}, {&entry, 1}));
    return *builder.finish(0);
  };
  const std::vector aux{std::byte{7}};
  const auto plain = with(false, {}), both = with(true, aux);
  const auto merged = [](const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                         BuildOptions options) {
    options.version = VersionNumber::v2;
    const Section sections[] = {*Section::parse(a), *Section::parse(b)};
    auto converted = convert(sections, options, 0);
    EXPECT_TRUE(converted);
    const auto out = Section::parse(converted->bytes);
    return std::pair((out->header().flags & flag_frame_pointer) != 0, out->aux_header().size());
  };
  EXPECT_EQ(merged(both, both, {}), (std::pair{true, std::size_t{1}}));
  EXPECT_EQ(merged(both, plain, {}), (std::pair{false, std::size_t{0}}));
  EXPECT_EQ(merged(plain, both, {}), (std::pair{false, std::size_t{0}}));
  // What the caller requests comes first.
  EXPECT_EQ(merged(both, both, {.aux_header = {std::byte{1}, std::byte{2}}}),
            (std::pair{true, std::size_t{2}}));
  EXPECT_EQ(merged(plain, plain, {.frame_pointer = true}), (std::pair{true, std::size_t{0}}));
}

TEST(Convert, KeepsAuxiliaryHeaderAndFlag) {
  Builder builder({.version = VersionNumber::v2,
                   .frame_pointer = true,
                   .aux_header = {std::byte{1}, std::byte{2}, std::byte{3}}});
  const FrameRow entry = traits(Abi::amd64).entry_row();
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 16}, {&entry, 1}));
  const auto bytes = *builder.finish(0);
  auto section = Section::parse(bytes);
  for (std::uint8_t version = 1; version <= 3; ++version) {
    auto converted = convert({&*section, 1}, {.version = VersionNumber{version}}, 0);
    ASSERT_TRUE(converted);
    auto again = Section::parse(converted->bytes);
    ASSERT_TRUE(again);
    EXPECT_TRUE(std::ranges::equal(again->aux_header(), section->aux_header()));
    EXPECT_EQ((again->header().flags & flag_frame_pointer) != 0, version < 3);
    EXPECT_EQ(again->fde(0)->start, 0x1000u);
  }
}

// Bit 0x2 means FRAME_POINTER in versions 1 and 2; version 3 does not define it.
TEST(Convert, Version3HasNoFramePointerFlag) {
  const auto bytes = test::hex(R"(
    e2de 03 03  03 00 f8 00  01000000 01000000 08000000 00000000 10000000
    0010000000000000 10000000 00000000   0100 00 00 00   00 03 08)");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  EXPECT_EQ(section->version().flags, 0x5);
  auto converted = convert({&*section, 1}, {.version = VersionNumber::v2}, 0);
  ASSERT_TRUE(converted);
  EXPECT_EQ(Section::parse(converted->bytes)->header().flags & flag_frame_pointer, 0);
}

// GNU as 2.47 on `.cfi_def_cfa_offset 8` after the last instruction: a row at the function's end.
TEST(Convert, RowsAtTheFunctionsEndAreLeftOut) {
  const auto bytes = test::hex(R"(
    e2de 03 01  03 00 f8 00  02000000 03000000 13000000 00000000 20000000
    0010000000000000 02000000 00000000
    0210000000000000 10000000 0b000000
    0200 00 00 00   00 03 08   02 03 10
    0100 00 00 00   00 03 08)");
  auto section = Section::parse(bytes);
  ASSERT_TRUE(section) << describe(section.error());
  auto converted = convert({&*section, 1}, {}, 0);
  ASSERT_TRUE(converted) << describe(converted.error());
  EXPECT_TRUE(converted->refused.empty());
  EXPECT_EQ(converted->num_fdes, 2u);
  EXPECT_EQ(converted->rows_at_end, 1u);
  auto again = Section::parse(converted->bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->fde(0)->num_fres, 1u);
  EXPECT_EQ(again->fde(1)->num_fres, 1u);
}

TEST(Convert, RefusesOnlyFunctionsOutOfReach) {
  Builder builder({});
  const FrameRow entry = traits(Abi::amd64).entry_row();
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 16}, {&entry, 1}));
  ASSERT_TRUE(builder.add({.start = 0x200000000, .size = 16}, {&entry, 1}));
  const auto bytes = *builder.finish(0);
  auto section = Section::parse(bytes);
  auto converted = convert({&*section, 1}, {.version = VersionNumber::v1}, 0);
  ASSERT_TRUE(converted);
  EXPECT_EQ(converted->num_fdes, 1u);
  ASSERT_EQ(converted->refused.size(), 1u);
  EXPECT_EQ(converted->refused[0].refusal,
            (Refusal{RefusalReason::out_of_reach, Refusal::none, 0x200000000}));
}

} // namespace sframe_convert_test
} // namespace sframe
