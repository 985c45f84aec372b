// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing: the output follows the specification, has minimal size, and reads back equal to the input.

#include "inputs.h"
#include "sframe/builder.h"
#include "sframe/optimize.h"
#include "sframe/section.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace sframe {
namespace sframe_builder_test {

using test::hex;

const FrameRow entry{0, Rule::value(7, 8), Rule::fixed(), Rule::same(), false};
const FrameRow pushed{1, Rule::value(7, 16), Rule::fixed(), Rule::at_cfa(-16), false};
const FrameRow framed{4, Rule::value(6, 16), Rule::fixed(), Rule::at_cfa(-16), false};

Fde function(std::uint64_t start, std::uint32_t size) {
  return {.start = start, .size = size};
}

std::vector<FrameRow> rows_of(const Section& section, std::uint32_t number) {
  auto fde = section.fde(number);
  EXPECT_TRUE(fde);
  std::vector<FrameRow> rows;
  RowCursor cursor = section.rows(*fde);
  for (FrameRow row; cursor.next(row);) rows.push_back(row);
  EXPECT_FALSE(cursor.error());
  return rows;
}

TEST(Builder, WritesVersion3AsSpecified) {
  Builder builder({.version = VersionNumber::v3, .abi = Abi::amd64});
  ASSERT_TRUE(builder.add(function(0x1000, 32), std::vector{entry, pushed, framed}));
  EXPECT_EQ(builder.size(), 28u + 16 + 5 + 3 + 4 + 4);
  auto bytes = builder.finish(0x2000);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, hex(R"(
    e2de 03 05  03 00 f8 00                       # SORTED | FUNC_START_PCREL
    01000000 03000000 10000000 00000000 10000000
    e4efffffffffffff 20000000 00000000            # 0x1000 - (0x2000 + 28)
    0300 00 00 00
    00 03 08   01 05 10 f0   04 04 10 f0)"));
}

TEST(Builder, WritesVersion1And2AsSpecified) {
  for (auto [version, expected] : {std::pair{VersionNumber::v1, R"(
    e2de 01 01  03 00 f8 00  01000000 01000000 03000000 00000000 11000000
    00f0ffff 20000000 00000000 01000000 00   00 03 08)"},
                                   std::pair{VersionNumber::v2, R"(
    e2de 02 05  03 00 f8 00  01000000 01000000 03000000 00000000 14000000
    e4efffff 20000000 00000000 01000000 00 00 0000   00 03 08)"}}) {
    Builder builder({.version = version, .abi = Abi::amd64});
    ASSERT_TRUE(builder.add(function(0x1000, 32), {&entry, 1}));
    auto bytes = builder.finish(0x2000);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(*bytes, hex(expected));
  }
}

TEST(Builder, OutputIsIndependentOfOrder) {
  std::vector<std::pair<Fde, std::vector<FrameRow>>> functions;
  for (std::uint32_t i = 0; i < 50; ++i)
    functions.push_back({function(0x1000 + i * 64, 64), {entry, pushed, framed}});
  for (std::uint32_t i = 0; i < 50; ++i) functions[i].second.resize(1 + i % 3);
  std::mt19937 random(7);
  for (bool share : {false, true}) {
    std::vector<std::byte> first;
    for (int turn = 0; turn < 4; ++turn) {
      Builder builder({.share_rows = share});
      for (auto& [fde, rows] : functions) ASSERT_TRUE(builder.add(fde, rows));
      auto bytes = builder.finish(0);
      ASSERT_TRUE(bytes);
      if (turn == 0) first = *bytes;
      EXPECT_EQ(*bytes, first);
      std::ranges::shuffle(functions, random);
      for (auto& [fde, rows] : functions) std::ranges::shuffle(rows, random);
    }
  }
}

TEST(Builder, MergesEqualRows) {
  FrameRow again = entry;
  again.offset = 9;
  FrameRow explicit_ra = entry; // the fixed offset written out is still the same rule
  explicit_ra.offset = 5;
  explicit_ra.ra = Rule::at_cfa(-8);
  Builder builder({});
  ASSERT_TRUE(builder.add(function(0, 32), std::vector{entry, explicit_ra, again}));
  EXPECT_EQ(builder.num_fres(), 1u);
  Builder literal({.merge_rows = false});
  ASSERT_TRUE(literal.add(function(0, 32), std::vector{entry, explicit_ra, again}));
  EXPECT_EQ(literal.num_fres(), 3u);
}

/// Rows of which each field takes four bytes, as many as a function may have.
TEST(Builder, WidestRows) {
  constexpr std::uint32_t count = 0xffff, distance = 16, row_size = 4 + 1 + 4 + 4;
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.push_back({i * distance, Rule::value(7, 0x8000 + static_cast<std::int32_t>(i)), Rule::fixed(),
                    Rule::at_cfa(-0x8008 - static_cast<std::int32_t>(i)), false});
  Builder builder({.version = VersionNumber::v3, .abi = Abi::amd64});
  ASSERT_TRUE(builder.add(function(0x1000, count * distance), rows));
  EXPECT_EQ(builder.size(), 28u + 16 + 5 + count * row_size);
  const auto bytes = builder.finish(0x1000);
  ASSERT_TRUE(bytes);
  const auto section = Section::parse(*bytes, 0x1000);
  ASSERT_TRUE(section);
  EXPECT_EQ(rows_of(*section, 0), rows);
}

TEST(Builder, ChoosesTheSmallestEncodings) {
  const auto size_with = [](std::uint32_t row_offset, std::int32_t cfa_offset) {
    Builder builder({});
    FrameRow row = pushed;
    row.offset = row_offset;
    row.cfa.offset = cfa_offset;
    EXPECT_TRUE(builder.add(function(0, 0x100000), std::vector{entry, row}));
    return builder.size() - (28 + 16 + 5);
  };
  EXPECT_EQ(size_with(255, 127), 3u + 4);
  EXPECT_EQ(size_with(256, 127), 4u + 5) << "ADDR2 for both rows";
  EXPECT_EQ(size_with(65535, 127), 4u + 5);
  EXPECT_EQ(size_with(65536, 127), 6u + 7) << "ADDR4";
  EXPECT_EQ(size_with(255, 128), 3u + 6) << "2-byte words in the second row only";
  EXPECT_EQ(size_with(255, -32768), 3u + 6);
  EXPECT_EQ(size_with(255, 32768), 3u + 10);
}

TEST(Builder, MergedLastRowDoesNotChangeFreType) {
  FrameRow again = pushed;
  again.offset = 70000;
  Builder builder({});
  ASSERT_TRUE(builder.add(function(0, 0x100000), std::vector{entry, pushed, again}));
  EXPECT_EQ(builder.size(), 28u + 16 + 5 + 3 + 4);
}

TEST(Builder, RefusalOfRowMatchesAdd) {
  const FrameRow in_register{0, Rule::value(10, 0), Rule::fixed(), Rule::same(), false};
  const FrameRow no_cfa{0, Rule::undefined(), Rule::fixed(), Rule::same(), false};
  const FrameRow ra_elsewhere{0, Rule::value(7, 8), Rule::at_cfa(-24), Rule::same(), false};
  const std::vector rows = {entry, in_register, no_cfa, ra_elsewhere, FrameRow::outermost(0)};
  using enum RefusalReason;
  const auto none = std::optional<RefusalReason>();
  const std::map<VersionNumber, std::vector<std::optional<RefusalReason>>> expected = {
      {VersionNumber::v1, {none, cfa_rule, cfa_rule, ra_rule, outermost}},
      {VersionNumber::v2, {none, cfa_rule, cfa_rule, ra_rule, none}},
      {VersionNumber::v3, {none, none, cfa_rule, none, none}}};
  for (const auto& [version, reasons] : expected)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Builder builder({.version = version});
      EXPECT_EQ(builder.refusal(rows[i]), reasons[i]) << i;
      const auto added = builder.add(function(0, 1), {&rows[i], 1});
      EXPECT_EQ(added ? none : std::optional(added.error().reason), reasons[i]) << i;
    }
}

// Six words of 4 bytes (CFA, RA and FP in the flexible form) after offsets of 4 bytes: 29 bytes in all.
TEST(Builder, LargestRows) {
  constexpr std::int32_t far = 0x7fffff00;
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < 100; ++i)
    rows.push_back({0x10000 + i, Rule::stored(10, far + static_cast<std::int32_t>(i)), Rule::stored(11, -far),
                    Rule::stored(12, far), false});
  Builder builder({.abi = Abi::aarch64_little});
  ASSERT_TRUE(builder.add(function(0, 0x20000), rows));
  EXPECT_EQ(builder.size(), 28u + 16 + 5 + 100 * 29);
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  EXPECT_EQ(rows_of(*section, 0), rows);
}

TEST(Builder, RefusesRowsThatTheReaderCannotUse) {
  const AbiTraits& abi = traits(Abi::amd64);
  const auto loaded = [](std::uint16_t base) {
    return FrameRow{0, Rule::stored(base, 16), Rule::at_cfa(-8), Rule::same(), false};
  };
  Builder glibc({.version = VersionNumber::v3, .usable = {.outermost = false}});
  EXPECT_EQ(glibc.add(function(0, 16), std::vector{FrameRow::outermost(0)}).error(),
            (Refusal{RefusalReason::reader, 0, 0}));
  EXPECT_EQ(glibc.add(function(0, 16), {}).error().reason, RefusalReason::reader);
  EXPECT_EQ(glibc.refusal(FrameRow::outermost(0)), RefusalReason::reader);
  EXPECT_EQ(glibc.refusal(loaded(abi.sp)), std::nullopt);
  EXPECT_TRUE(glibc.add(function(0, 16), std::vector{entry}));

  Builder kernel({.version = VersionNumber::v3, .usable = {.loaded_cfa = false}});
  EXPECT_EQ(kernel.refusal(loaded(abi.sp)), RefusalReason::reader);
  EXPECT_EQ(kernel.refusal(loaded(abi.fp)), RefusalReason::reader);
  EXPECT_EQ(kernel.refusal(loaded(10)), std::nullopt);
  EXPECT_EQ(kernel.refusal(FrameRow::outermost(0)), std::nullopt);
  const auto fp_at = [](std::int32_t offset) {
    return FrameRow{0, Rule::value(7, 16), Rule::at_cfa(-8), Rule::at_cfa(offset), false};
  };
  EXPECT_EQ(kernel.refusal(fp_at(0)), std::nullopt);
  Builder other({.version = VersionNumber::v3, .usable = {.fp_at_cfa = false}});
  EXPECT_EQ(other.refusal(fp_at(0)), RefusalReason::reader);
  EXPECT_EQ(other.refusal(fp_at(-16)), std::nullopt);
  EXPECT_STREQ(reason_name(RefusalReason::reader), "reader");
}

TEST(Builder, AppendsOtherBuilder) {
  for (VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3})
    for (bool share : {false, true}) {
      const BuildOptions options = {.version = version, .share_rows = share};
      Builder whole(options), front(options), part(options);
      for (std::uint32_t i = 0; i < 300; ++i) {
        const std::vector rows = {entry, i % 3 ? pushed : framed};
        if (i % 100 == 0) {
          front.append(part);
          EXPECT_EQ(front.num_fres(), 2 * i);
          part.clear();
          EXPECT_EQ(part.num_fdes(), 0u);
          EXPECT_EQ(part.num_fres(), 0u);
        }
        ASSERT_TRUE(whole.add(function(0x1000 + i * 64, 64), rows));
        ASSERT_TRUE(part.add(function(0x1000 + i * 64, 64), rows));
      }
      // The last part comes first: the order does not matter, and rows are shared across parts.
      part.append(front);
      EXPECT_EQ(part.num_fdes(), 300u);
      EXPECT_EQ(part.num_fres(), 600u);
      EXPECT_EQ(part.finish(0).value(), whole.finish(0).value());
    }
}

// Half of the runs are in both builders.
TEST(Builder, AppendsDifferentRuns) {
  constexpr std::uint32_t count = 3000;
  const auto rows_of = [](std::uint32_t i) {
    const auto cfa = static_cast<std::int32_t>(16 + i % 1000);
    return std::vector{entry, FrameRow{4, Rule::value(7, cfa), Rule::at_cfa(-8), Rule::same(), false}};
  };
  for (VersionNumber version : {VersionNumber::v1, VersionNumber::v3}) {
    const BuildOptions options = {.version = version, .share_rows = true};
    Builder whole(options), front(options), part(options);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Fde fde = function(0x1000 + i * 64, 64);
      ASSERT_TRUE(whole.add(fde, rows_of(i)));
      ASSERT_TRUE((i % 1000 < 250 || i < 1500 ? front : part).add(fde, rows_of(i)));
    }
    front.append(part);
    EXPECT_EQ(front.num_fdes(), count);
    EXPECT_EQ(front.num_fres(), 2 * count);
    EXPECT_EQ(front.size(), whole.size());
    EXPECT_EQ(front.finish(0).value(), whole.finish(0).value());

    part.optimize({}); // it has no table of its runs then
    Builder twice(options);
    twice.append(part);
    const std::uint64_t once = twice.size();
    twice.append(part);
    EXPECT_EQ(twice.num_fdes(), 2 * part.num_fdes());
    EXPECT_EQ(twice.size(), once + std::uint64_t{part.num_fdes()} * traits(version).entry_size);
  }
}

TEST(Builder, MergesAdjacentOneRowFunctions) {
  const auto ranges_of = [](Builder& builder) {
    builder.merge_functions();
    const auto bytes = builder.finish(0);
    EXPECT_TRUE(bytes);
    const auto section = Section::parse(*bytes);
    EXPECT_TRUE(section);
    EXPECT_EQ(section->header().num_fres, builder.num_fres());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranges;
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
      const auto fde = section->fde(i);
      EXPECT_TRUE(fde);
      EXPECT_EQ(rows_of(*section, i).size(), fde->num_fres);
      ranges.emplace_back(fde->start, fde->size);
    }
    return ranges;
  };
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  FrameRow deeper = entry;
  deeper.cfa.offset = 16;
  for (bool share : {false, true}) {
    Builder builder({.share_rows = share});
    const auto add = [&](Fde fde, const std::vector<FrameRow>& rows) { ASSERT_TRUE(builder.add(fde, rows)); };
    add(function(0x120, 0x10), {entry});
    add(function(0x100, 0x20), {entry}); // both touch: one
    add(function(0x131, 0x0f), {entry}); // a gap of one byte before
    add(function(0x140, 0x10), {deeper});
    add(function(0x150, 0x10), {entry, pushed}); // two rows
    add(function(0x160, 0x10), {entry});
    add({.start = 0x170, .size = 0x10, .signal_frame = true}, {entry});
    add({.start = 0x180, .size = 0x20, .pc_type = PcType::mask, .rep_size = 16}, {entry});
    add(function(0x1a0, 0x10), {}); // outermost throughout
    add(function(0x1b0, 0x10), {});
    EXPECT_EQ(ranges_of(builder), (Ranges{{0x100, 0x30},
                                          {0x131, 0x0f},
                                          {0x140, 0x10},
                                          {0x150, 0x10},
                                          {0x160, 0x10},
                                          {0x170, 0x10},
                                          {0x180, 0x20},
                                          {0x1a0, 0x20}}));
  }

  Builder keys({.abi = Abi::aarch64_little});
  const FrameRow leaf{0, Rule::value(31, 0), Rule::same(), Rule::same(), false};
  ASSERT_TRUE(keys.add({.start = 0, .size = 4, .pauth_key = PauthKey::a}, {&leaf, 1}));
  ASSERT_TRUE(keys.add({.start = 4, .size = 4, .pauth_key = PauthKey::b}, {&leaf, 1}));
  EXPECT_EQ(ranges_of(keys), (Ranges{{0, 4}, {4, 4}})) << "another key";

  Builder large({});
  ASSERT_TRUE(large.add(function(0, 0xfffffff0), {&entry, 1}));
  ASSERT_TRUE(large.add(function(0xfffffff0, 0x10), {&entry, 1}));
  EXPECT_EQ(ranges_of(large), (Ranges{{0, 0xfffffff0}, {0xfffffff0, 0x10}})) << "no size for both";
}

TEST(Builder, SharesEqualRuns) {
  for (VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
    Builder builder({.version = version, .share_rows = true});
    for (std::uint32_t i = 0; i < 1000; ++i)
      ASSERT_TRUE(builder.add(function(0x1000 + i * 64, 64), std::vector{entry, i % 2 ? pushed : framed}));
    auto bytes = builder.finish(0);
    ASSERT_TRUE(bytes);
    auto section = Section::parse(*bytes);
    ASSERT_TRUE(section);
    EXPECT_EQ(section->header().num_fres, 2000u);
    EXPECT_LT(section->header().fre_size, 30u);
    for (std::uint32_t i = 0; i < 1000; ++i)
      EXPECT_EQ(rows_of(*section, i), (std::vector{entry, i % 2 ? pushed : framed}));
  }
}

// In versions 1 and 2 the FRE type is in the index: 00 03 00 01 03 00 is two rows of ADDR1 (at 0 and 1, CFA =
// SP + 0) and two of ADDR2 (at 0x300 and 0x301, outermost).
// As if by add(): in all versions, with rows shared and not, for functions of any marks.
TEST(Builder, AddsAgain) {
  const std::vector<std::pair<Fde, std::vector<FrameRow>>> functions = {
      {function(0x1000, 32), {entry, pushed, framed}},
      {{.start = 0x1040, .size = 64, .pc_type = PcType::mask, .rep_size = 16}, {entry, pushed}},
      {{.start = 0x1100, .size = 8, .signal_frame = true}, {entry}},
      {{.start = 0x1200, .size = 8, .pauth_key = PauthKey::b}, {entry, pushed}},
      {function(0x1300, 32), {}}};
  for (const VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
    for (const bool share : {false, true}) {
      Builder twice({.version = version, .share_rows = share}), again = twice;
      for (const auto& [fde, rows] : functions) {
        if (!twice.add(fde, rows)) continue;
        ASSERT_TRUE(again.add(fde, rows));
        const Builder::Added added = again.last_added();
        Fde other = fde;
        other.start += 0x4000;
        other.size += 16;
        ASSERT_TRUE(twice.add(other, rows));
        ASSERT_TRUE(again.add_again(added, other.start, other.size));
        EXPECT_EQ(again.num_fres(), twice.num_fres());
        EXPECT_EQ(again.size(), twice.size());
      }
      EXPECT_EQ(again.num_fdes() % 2, 0u);
      EXPECT_GE(again.num_fdes(), version == VersionNumber::v3 ? 10u : 4u);
      EXPECT_EQ(again.finish(0x2000).value(), twice.finish(0x2000).value());
    }
  }
}

TEST(Builder, RefusesToAddAgain) {
  Builder builder({.version = VersionNumber::v2, .start_fields = StartFields{0x1000, 0x2000}});
  ASSERT_TRUE(builder.add(function(0x1000, 32), std::vector{entry, pushed, framed}));
  const Builder::Added added = builder.last_added();
  const auto why = [&](std::uint64_t start, std::uint32_t size) {
    const auto again = builder.add_again(added, start, size);
    EXPECT_EQ(again ? 0u : again.error().function, again ? 0u : start);
    return again ? std::nullopt : std::optional(again.error().reason);
  };
  EXPECT_EQ(why(0x1040, 4), RefusalReason::row_past_end);
  EXPECT_EQ(why(0x1040, 0), RefusalReason::row_past_end);
  EXPECT_EQ(why(0x1'0000'0000, 32), RefusalReason::out_of_reach);
  EXPECT_EQ(builder.num_fdes(), 1u);
  EXPECT_EQ(why(0x1040, 5), std::nullopt);
  EXPECT_EQ(builder.num_fdes(), 2u);
}

// Functions that share their rows have more than there are in the section. sfh_num_fres has 32 bits.
TEST(Builder, RefusesMoreRowsThanTheHeaderCanCount) {
  constexpr std::uint32_t num_rows = 0xffff, num_functions = 0x10001; // 0xffffffff rows
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < num_rows; ++i)
    rows.push_back(
        {i, Rule::value(7, static_cast<std::int32_t>(8 + i % 2 * 8)), Rule::fixed(), Rule::same(), false});
  Builder builder({.version = VersionNumber::v3, .share_rows = true});
  ASSERT_TRUE(builder.add(function(0, num_rows), rows));
  const Builder::Added added = builder.last_added();
  for (std::uint32_t i = 1; i < num_functions; ++i)
    ASSERT_TRUE(builder.add_again(added, i * std::uint64_t{num_rows}, num_rows));
  const auto bytes = builder.finish(0);
  ASSERT_TRUE(bytes);
  const auto section = Section::parse(*bytes, 0);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->header().num_fres, 0xffffffffu);
  ASSERT_TRUE(builder.add(function(std::uint64_t{num_functions} * num_rows, 1), {&entry, 1}));
  const auto more = builder.finish(0);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().reason, RefusalReason::section_too_large);
}

TEST(Builder, DoesNotShareRowsOfAnotherType) {
  std::vector<FrameRow> near, far;
  for (const std::uint32_t offset : {0u, 1u}) {
    near.push_back({offset, Rule::value(7, 0), Rule::fixed(), Rule::same(), false});
    far.push_back(FrameRow::outermost(0x300 + offset));
  }
  for (const bool near_first : {true, false}) {
    Builder builder({.version = VersionNumber::v2, .merge_rows = false, .share_rows = true});
    for (const bool is_near : {near_first, !near_first, near_first, !near_first})
      ASSERT_TRUE(builder.add(function(0x1000 * (builder.num_fdes() + 1), 0x400), is_near ? near : far));
    const auto bytes = *builder.finish(0);
    const auto section = Section::parse(bytes);
    ASSERT_TRUE(section);
    EXPECT_EQ(section->header().fre_size, 12u);
    for (std::uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(rows_of(*section, i), (i % 2 == 0) == near_first ? near : far);
  }
}

// Flexible rows: control words, no base register bit in the info byte, and a 0 where RA has no rule but FP
// has one.
TEST(Builder, WritesFlexibleRowsAsSpecified) {
  Builder builder({.abi = Abi::aarch64_big});
  const std::vector<FrameRow> rows = {
      {0, Rule::value(31, 0), Rule::same(), Rule::same(), false},
      {4, Rule::value(31, 16), Rule::stored(30, -8), Rule::stored(29, -16), true},
      {16, Rule::stored(9, -8), Rule::same(), Rule::at_cfa(-16), false},
      {32, Rule::value(9, 0), Rule::in_register(10), Rule::same(), false}};
  ASSERT_TRUE(builder.add(function(0, 64), rows));
  const auto bytes = *builder.finish(0);
  EXPECT_EQ(std::vector(bytes.begin() + 28 + 16, bytes.end()), hex(R"(
    0004 00 01 00
    00 04 f9 00
    04 8c f9 10 f3 f8 eb f0
    10 0a 4b f8 00 02 f0
    20 08 49 00 51 00)"));
}

// The flexible type represents all that the default type does: what it cannot represent is refused.
TEST(Builder, MixedRowsUseFlexType) {
  const FrameRow only_standard{0, Rule::value(31, 16), Rule::at_cfa(-8), Rule::same(), false};
  const FrameRow only_flex{4, Rule::stored(29, -8), Rule::same(), Rule::same(), false};
  const auto reason = [](Abi abi, const std::vector<FrameRow>& rows) -> std::string {
    Builder builder({.abi = abi});
    const auto added = builder.add(function(0, 64), rows);
    return added ? "" : reason_name(added.error().reason);
  };
  EXPECT_EQ(reason(Abi::aarch64_little, {only_standard, only_flex}), "");
  // Nothing represents CFA + offset itself: the row is the cause, whatever is next to it.
  FrameRow neither = only_standard;
  neither.offset = 8;
  neither.fp = Rule::value(Rule::cfa_base, 8);
  EXPECT_EQ(reason(Abi::aarch64_little, {only_standard, neither}), "fp-rule");
  EXPECT_EQ(reason(Abi::aarch64_little, {only_flex, neither}), "fp-rule");
}

TEST(Builder, RefusesUnrepresentable) {
  const auto reason = [](VersionNumber version, Abi abi, Fde fde, std::vector<FrameRow> rows) -> std::string {
    Builder builder({.version = version, .abi = abi});
    auto added = builder.add(fde, rows);
    EXPECT_EQ(builder.num_fdes(), added ? 1u : 0u);
    EXPECT_TRUE(builder.finish(0));
    return added ? "" : reason_name(added.error().reason);
  };
  using enum VersionNumber;
  const Fde fde = function(0x1000, 64);
  FrameRow drap = framed;
  drap.cfa = Rule::stored(6, -8);
  EXPECT_EQ(reason(v2, Abi::amd64, fde, {entry, drap}), "cfa-rule");
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {entry, drap}), "");
  FrameRow ra_elsewhere = entry;
  ra_elsewhere.ra = Rule::at_cfa(-16);
  EXPECT_EQ(reason(v2, Abi::amd64, fde, {ra_elsewhere}), "ra-rule");
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {ra_elsewhere}), "");
  FrameRow fp_in_register = entry;
  fp_in_register.fp = Rule::in_register(12);
  EXPECT_EQ(reason(v2, Abi::amd64, fde, {fp_in_register}), "fp-rule");
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {fp_in_register}), "");
  FrameRow fp_is_cfa = entry; // CFA - 16 itself, not what is stored there: no form has it
  fp_is_cfa.fp = Rule::value(Rule::cfa_base, -16);
  for (const VersionNumber version : {v1, v2, v3})
    EXPECT_EQ(reason(version, Abi::amd64, fde, {fp_is_cfa}), "fp-rule");
  FrameRow ra_is_cfa = entry;
  ra_is_cfa.ra = Rule::value(Rule::cfa_base, -16);
  for (const VersionNumber version : {v1, v2, v3})
    EXPECT_EQ(reason(version, Abi::amd64, fde, {ra_is_cfa}), "ra-rule");
  FrameRow fp_fixed = entry; // "at the ABI's fixed place", where the ABI fixes none
  fp_fixed.fp = Rule::fixed();
  for (const VersionNumber version : {v1, v2, v3})
    EXPECT_EQ(reason(version, Abi::amd64, fde, {fp_fixed}), "fp-rule");
  EXPECT_EQ(reason(v1, Abi::amd64, fde, {FrameRow::outermost(0)}), "outermost");
  EXPECT_EQ(reason(v2, Abi::amd64, fde, {FrameRow::outermost(0)}), "");
  EXPECT_EQ(reason(v1, Abi::amd64, fde, {}), "no-rows");
  EXPECT_EQ(reason(v2, Abi::amd64, fde, {}), "no-rows");
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {}), "");
  Fde signal = fde;
  signal.signal_frame = true;
  EXPECT_EQ(reason(v2, Abi::amd64, signal, {entry}), "signal-frame");
  EXPECT_EQ(reason(v3, Abi::amd64, signal, {entry}), "");
  Fde mask = fde;
  mask.pc_type = PcType::mask;
  EXPECT_EQ(reason(v3, Abi::amd64, mask, {entry}), "rep-size");
  mask.rep_size = 8;
  EXPECT_EQ(reason(v1, Abi::amd64, mask, {entry}), "rep-size");
  mask.rep_size = 16;
  EXPECT_EQ(reason(v1, Abi::amd64, mask, {entry}), "");
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {entry, entry}), "row-order");
  FrameRow late = pushed;
  late.offset = 64;
  EXPECT_EQ(reason(v3, Abi::amd64, fde, {entry, late}), "row-past-end");

  // AArch64: FP without RA has no default form but a flexible one.
  FrameRow fp_only{0, Rule::value(31, 16), Rule::same(), Rule::at_cfa(-16), false};
  EXPECT_EQ(reason(v2, Abi::aarch64_little, fde, {fp_only}), "fp-rule");
  EXPECT_EQ(reason(v3, Abi::aarch64_little, fde, {fp_only}), "");
  // s390x: units of 8 from 160; registers in V2's words.
  FrameRow odd{0, Rule::value(15, 164), Rule::same(), Rule::same(), false};
  EXPECT_EQ(reason(v2, Abi::s390x, fde, {odd}), "cfa-alignment");
  EXPECT_EQ(reason(v3, Abi::s390x, fde, {odd}), "cfa-alignment");
  FrameRow in_fpr{0, Rule::value(15, 160), Rule::in_register(16), Rule::in_register(17), false};
  EXPECT_EQ(reason(v1, Abi::s390x, fde, {in_fpr}), "ra-rule");
  EXPECT_EQ(reason(v2, Abi::s390x, fde, {in_fpr}), "");
  EXPECT_EQ(reason(v3, Abi::s390x, fde, {in_fpr}), "");
}

// Offsets are 32-bit words: all of them can be represented.
TEST(Builder, ExtremeOffsets) {
  for (const std::int32_t offset : {INT32_MAX, INT32_MIN}) {
    FrameRow row = pushed;
    row.cfa.offset = offset;
    for (VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
      Builder builder({.version = version});
      ASSERT_TRUE(builder.add(function(0x1000, 64), {&row, 1}));
      const auto bytes = *builder.finish(0);
      EXPECT_EQ(rows_of(*Section::parse(bytes), 0), std::vector{row});
    }
  }
  // On s390x the word counts (offset - 160) / 8.
  Builder s390x({.abi = Abi::s390x});
  const FrameRow lowest{0, Rule::value(15, INT32_MIN), Rule::same(), Rule::same(), false};
  ASSERT_TRUE(s390x.add(function(0x1000, 64), {&lowest, 1}));
  const auto bytes = *s390x.finish(0);
  EXPECT_EQ(rows_of(*Section::parse(bytes), 0), std::vector{lowest});
}

TEST(Builder, TooManyRowsForVersion3) {
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    rows.push_back(i % 2 ? pushed : entry);
    rows.back().offset = i;
  }
  Builder v3({});
  auto added = v3.add(function(0, 65536), rows);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().reason, RefusalReason::too_many_rows);
  rows.pop_back();
  EXPECT_TRUE(v3.add(function(0, 65536), rows));
  Builder v2({.version = VersionNumber::v2});
  EXPECT_TRUE(v2.add(function(0, 65536), rows));
}

TEST(Builder, ReachBeforeVersion3) {
  // Fields: the first two starts, from the section. Version 1 counts from the section itself.
  struct Case {
    VersionNumber version;
    std::uint64_t first, second;
  };
  for (const auto& [version, first, second] :
       {Case{VersionNumber::v1, 0, 0}, Case{VersionNumber::v2, 28, 48}}) {
    Builder builder({.version = version});
    ASSERT_TRUE(builder.add(function(0x400000, 64), {&entry, 1}));
    ASSERT_TRUE(builder.add(function(0x80400000, 64), {&entry, 1}));
    const auto range = builder.section_addresses();
    ASSERT_TRUE(range);
    // The second function may be 2^31 - 1 above its field, the first one 2^31 below its own.
    EXPECT_EQ(range->lowest, 0x80400000u - second - 0x7fffffff);
    EXPECT_EQ(range->highest, 0x400000u - first + 0x80000000);
    EXPECT_TRUE(builder.finish(range->lowest));
    EXPECT_TRUE(builder.finish(range->highest));
    EXPECT_FALSE(builder.finish(range->lowest - 1));
    auto above = builder.finish(range->highest + 1);
    ASSERT_FALSE(above);
    EXPECT_EQ(above.error().reason, RefusalReason::out_of_reach);
    EXPECT_EQ(above.error().function, 0x400000u);
    ASSERT_TRUE(builder.add(function(0x180400000, 64), {&entry, 1}));
    EXPECT_FALSE(builder.section_addresses());
  }
}

TEST(Builder, KernelAddressesWrap) {
  Builder builder({.version = VersionNumber::v2});
  ASSERT_TRUE(builder.add(function(0xffffffff81000000, 64), {&entry, 1}));
  auto bytes = builder.finish(0);
  ASSERT_TRUE(bytes);
  auto section = Section::parse(*bytes, 0);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->fde(0)->start, 0xffffffff81000000u);
}

// A section below functions near the top of the address space and above others near the bottom: readers
// compare distances, which are negative for the first.
TEST(Builder, SortsByTheDistanceFromTheSection) {
  struct Case {
    std::uint64_t address, first, second;
  };
  // Distances are signed: the lower one comes first, at whichever address it is.
  for (const auto& [address, first, second] :
       {Case{0, 0xffffffff81000000, 0x1000}, Case{std::uint64_t{1} << 62, 0x1000, std::uint64_t{1} << 63}}) {
    Builder builder({});
    for (const std::uint64_t start : {second, first})
      ASSERT_TRUE(builder.add(function(start, 64), {&entry, 1}));
    const auto bytes = builder.finish(address);
    ASSERT_TRUE(bytes);
    const auto section = Section::parse(*bytes, address);
    ASSERT_TRUE(section);
    EXPECT_EQ(section->fde_start(0), first);
    EXPECT_EQ(section->fde_start(1), second);
    for (const std::uint64_t start : {first, second}) {
      const auto match = section->find(start);
      ASSERT_TRUE(match && *match);
      EXPECT_EQ((*match)->fde.start, start);
    }
  }
}

/// So many that they are not sorted by comparing; some have the start of another.
TEST(Builder, SortsManyFunctions) {
  constexpr std::uint64_t address = 0x10000;
  std::vector<Fde> functions;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    functions.push_back(function(i * std::uint64_t{0x123'4567'89ab}, i % 7 + 1));
    functions.push_back(function(address - i * std::uint64_t{0x51}, 8));
    if (i % 100 == 0) functions.push_back(function(i * std::uint64_t{0x123'4567'89ab}, i % 7));
  }
  std::ranges::shuffle(functions, std::mt19937(7));
  Builder builder({.version = VersionNumber::v3});
  for (const Fde& fde : functions) ASSERT_TRUE(builder.add(fde, {&entry, 1}));
  const auto bytes = builder.finish(address);
  ASSERT_TRUE(bytes);
  const auto section = Section::parse(*bytes, address);
  ASSERT_TRUE(section);
  ASSERT_EQ(section->num_fdes(), functions.size());
  std::ranges::sort(functions, {}, [](const Fde& fde) {
    return std::pair(static_cast<std::int64_t>(fde.start - address), fde.size);
  });
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    const auto fde = section->fde(i);
    ASSERT_TRUE(fde);
    EXPECT_EQ(std::pair(fde->start, fde->size), std::pair(functions[i].start, functions[i].size)) << i;
  }
}

TEST(Builder, RefusesAnAuxiliaryHeaderThatDoesNotFit) {
  // sfh_auxhdr_len has 8 bits.
  Builder builder({.aux_header = std::vector<std::byte>(255)});
  EXPECT_TRUE(builder.finish(0));
  Builder longer({.aux_header = std::vector<std::byte>(256)});
  const auto bytes = longer.finish(0);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().reason, RefusalReason::aux_header_size);
}

TEST(Builder, RandomRowsReadBackEqual) {
  std::mt19937 random(3);
  for (const AbiTraits* abi : all_abis())
    for (VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3})
      for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        Builder builder({.version = version,
                         .abi = abi->id,
                         .byte_order = order,
                         .merge_rows = false,
                         .share_rows = random() % 2 == 0});
        std::vector<std::vector<FrameRow>> kept;
        const auto any_rule = [&](Rule::Kind absent) -> Rule {
          const auto offset = static_cast<std::int32_t>(random() >> random() % 32);
          switch (random() % 6) {
          case 0: return Rule::at_cfa(offset);
          case 1: return Rule::in_register(static_cast<std::uint16_t>(random() % 64));
          case 2: return Rule::stored(static_cast<std::uint16_t>(random() % 3000), offset);
          case 3: return Rule::at_cfa(-8 * static_cast<std::int32_t>(random() % 8) - 16);
          default: return {absent, 0, 0};
          }
        };
        for (std::uint32_t i = 0; i < 300; ++i) {
          std::vector<FrameRow> rows;
          std::uint32_t offset = 0;
          for (auto r = random() % 6; r-- > 0;
               offset += 1 + static_cast<std::uint32_t>(random() >> (10 + random() % 22))) {
            FrameRow row = abi->entry_row();
            row.offset = offset;
            row.cfa.offset += 8 * static_cast<std::int32_t>(random() >> (8 + random() % 24));
            if (random() % 4 == 0) row.cfa.base = abi->fp;
            if (random() % 8 == 0) row.cfa = any_rule(Rule::Kind::value);
            if (random() % 3 == 0) row.fp = any_rule(Rule::Kind::same);
            if (random() % 4 == 0) row.ra = any_rule(row.ra.kind);
            row.ra_signed = random() % 2;
            if (random() % 16 == 0) row = FrameRow::outermost(offset);
            rows.push_back(row);
          }
          const Fde fde = function(0x10000 + std::uint64_t{i} * 0x100000, 0x100000);
          std::erase_if(rows, [&](const FrameRow& row) { return row.offset >= fde.size; });
          if (builder.add(fde, rows)) kept.push_back(rows);
        }
        EXPECT_GT(kept.size(), 20u);
        auto bytes = builder.finish(0);
        ASSERT_TRUE(bytes);
        EXPECT_EQ(bytes->size(), builder.size());
        auto section = Section::parse(*bytes);
        ASSERT_TRUE(section);
        ASSERT_EQ(section->num_fdes(), kept.size());
        for (std::uint32_t i = 0; i < kept.size(); ++i) {
          // On reading, the fixed place is `fixed`, however it was written.
          for (FrameRow& row : kept[i])
            if (abi->fixed_ra_offset && row.ra == Rule::at_cfa(abi->fixed_ra_offset)) row.ra = Rule::fixed();
          EXPECT_EQ(rows_of(*section, i), kept[i]);
        }
      }
}

} // namespace sframe_builder_test
} // namespace sframe
