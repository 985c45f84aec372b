// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables for BPF programs: the lookup of table.h, which is compiled for BPF too, finds the rules that
// Section::find() does, at every address; and damaged tables are refused.

#include "inputs.h"
#include "sframe/bpf/make_table.h"
#include "sframe/bpf/read_table.h"
#include "sframe/builder.h"
#include "sframe/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

namespace sframe::bpf {
namespace bpf_table_test {

/// The value of a rule: what sframe_bpf_value means, in the words of row.h.
Rule to_rule(const sframe_bpf_value& value) {
  switch (value.kind) {
  case SFRAME_BPF_SAME: return Rule::same();
  case SFRAME_BPF_SUM: return Rule::value(value.base, value.offset);
  case SFRAME_BPF_STORED: return Rule::stored(value.base, value.offset);
  default: return Rule::undefined();
  }
}

Rule without_fixed(const Rule& rule, std::int32_t offset) {
  return rule.kind == Rule::Kind::fixed ? Rule::at_cfa(offset) : rule;
}

void expect_rule(const Section& section, const std::optional<Match>& match, const sframe_bpf_rule& rule,
                 std::uint64_t pc) {
  SCOPED_TRACE(pc);
  if (!match) {
    EXPECT_EQ(rule.kind, SFRAME_BPF_NONE);
    return;
  }
  const FrameRow& row = match->row;
  ASSERT_EQ(rule.kind, row.is_outermost() ? SFRAME_BPF_OUTERMOST : SFRAME_BPF_ROW);
  if (row.is_outermost()) return;
  EXPECT_EQ(rule.signal_frame, match->fde.signal_frame);
  EXPECT_EQ(rule.ra_signed, row.ra_signed);
  EXPECT_EQ(rule.key_b, row.ra_signed && match->fde.pauth_key == PauthKey::b);
  EXPECT_EQ(to_rule(rule.cfa), row.cfa);
  EXPECT_EQ(to_rule(rule.ra), without_fixed(row.ra, section.header().fixed_ra_offset));
  EXPECT_EQ(to_rule(rule.fp), without_fixed(row.fp, section.header().fixed_fp_offset));
}

void expect_same_rules(const Section& section, const Table& table, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t pc = from; pc != to && !testing::Test::HasFailure(); ++pc) {
    const auto match = section.find(pc);
    ASSERT_TRUE(match);
    expect_rule(section, *match, table.find(pc), pc);
  }
}

/// A section and its table.
struct Both {
  explicit Both(const Builder& builder, const IsPadding& is_padding = {})
      : bytes(*builder.finish(0)), section(*Section::parse(bytes)) {
    auto result = make_table({&section, 1}, {}, is_padding);
    EXPECT_TRUE(result);
    made = std::move(*result);
    auto parsed = Table::parse(made.bytes);
    EXPECT_TRUE(parsed) << parsed.error().text();
    table.emplace(std::move(*parsed));
  }
  void expect_same_rules(std::uint64_t from, std::uint64_t to) const {
    bpf_table_test::expect_same_rules(section, *table, from, to);
  }

  std::vector<std::byte> bytes;
  Section section;
  MadeTable made;
  std::optional<Table> table;
};

TEST(BpfTable, HasTheRulesOfSections) {
  std::size_t functions = 0;
  std::set<std::string_view> abis;
  for (const auto& path : test::inputs_ending(".sframe")) {
    if (path.parent_path().filename() == "cases") continue;
    SCOPED_TRACE(path);
    const auto bytes = test::read_file(path);
    const auto section = Section::parse(bytes, 0x100000);
    ASSERT_TRUE(section);
    const auto made = make_table({&*section, 1}, {}, {});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->lost_addresses, 0u);
    const auto table = Table::parse(made->bytes);
    ASSERT_TRUE(table) << table.error().text();
    EXPECT_EQ(table->abi().id, section->abi().id);
    abis.insert(table->abi().name);
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i, ++functions) {
      const auto fde = section->fde(i);
      ASSERT_TRUE(fde);
      expect_same_rules(*section, *table, fde->start - 3, fde->start + std::min(fde->size, 5000u) + 3);
    }
  }
  EXPECT_GT(functions, 100u);
  EXPECT_EQ(abis.size(), 4u);
}

TEST(BpfTable, BytesOfASmallOne) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  FrameRow pushed = entry;
  pushed.offset = 1;
  pushed.cfa.offset = 16;
  pushed.fp = Rule::at_cfa(-16);
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1400, .size = 0x107}, std::vector{entry, pushed}));
  const auto bytes = *builder.finish(0);
  const auto section = *Section::parse(bytes);
  const std::byte id[] = {std::byte{0xab}, std::byte{0xcd}};
  const auto made = make_table({&section, 1}, id, {});
  ASSERT_TRUE(made);
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < made->bytes.size(); i += 8)
    words.push_back(load<std::uint64_t>(made->bytes.data() + i, ByteOrder::little));
  // RA of both: stored (3) at the CFA (31) - 8; FP: the same (1), or stored at the CFA - 16.
  const std::uint64_t ra = 3 | 31 << 2 | (-8 & 0x1ff) << 7, saved_fp = 3 | 31 << 2 | (-16 & 0x1ff) << 7;
  const std::vector<std::uint64_t> expected = {
      0x000d'03'01'54426653,
      0x1400,
      1 | 3ull << 32,
      3,
      2ull << 32,
      0xcdab,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0x00'00'01'02'00000000, // two rows in the first block, one in the second
      0x01'00 | 0x02'01 << 16 | 0x00'07ull << 32,
      0,
      1 | 7 << 8 | 8 << 16 | ra << 32 | 1ull << 48,
      1 | 7 << 8 | 16 << 16 | ra << 32 | saved_fp << 48};
  EXPECT_EQ(words, expected);
}

TEST(BpfTable, BlocksOfPcmaskAndGaps) {
  Builder builder({});
  const FrameRow entry = traits(Abi::amd64).entry_row();
  FrameRow pushed = entry;
  pushed.offset = 11;
  pushed.cfa.offset = 16;
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 0x648, .pc_type = PcType::mask, .rep_size = 16},
                          std::vector{entry, pushed}));
  ASSERT_TRUE(builder.add({.start = 0x1648, .size = 32}, std::vector{pushed})); // nothing before offset 11
  ASSERT_TRUE(builder.add({.start = 0x1700, .size = 32}, {}));                  // outermost
  ASSERT_TRUE(builder.add({.start = 0x700000, .size = 1}, std::vector{entry}));
  const Both both(builder);
  both.expect_same_rules(0xf00, 0x1900);
  both.expect_same_rules(0x6ffff0, 0x700010);
  EXPECT_EQ(both.table->find(0).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(both.table->find(~0ull).kind, SFRAME_BPF_NONE);
}

TEST(BpfTable, PaddingHasTheRowBefore) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  FrameRow other = entry;
  other.cfa.offset = 24;
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 7}, {&entry, 1}));
  ASSERT_TRUE(builder.add({.start = 0x1010, .size = 7}, {&entry, 1})); // after padding
  ASSERT_TRUE(builder.add({.start = 0x1020, .size = 7}, {&other, 1})); // after code
  ASSERT_TRUE(builder.add({.start = 0x1068, .size = 7}, {&entry, 1})); // after too much
  ASSERT_TRUE(builder.add({.start = 0x1070, .size = 7}, {&other, 1})); // after padding
  std::vector<AddressRange> asked;
  const Both both(builder, [&](AddressRange gap) {
    asked.push_back(gap);
    return gap.start == 0x1007 || gap.start == 0x106f;
  });
  EXPECT_EQ(both.made.merged_gaps, 2u);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].size, 9u);
  EXPECT_EQ(both.table->find(0x100f).cfa.offset, 8);
  EXPECT_EQ(both.table->find(0x1017).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(both.table->find(0x1027).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(both.table->find(0x106f).cfa.offset, 8);
  EXPECT_EQ(both.table->find(0x1070).cfa.offset, 24);
  EXPECT_EQ(both.table->find(0x1077).kind, SFRAME_BPF_NONE) << "what follows the last function is no gap";
  EXPECT_EQ(both.made.rows, 7u) << "0x1000, 0x1017, 0x1020, 0x1027, 0x1068, 0x1070, 0x1077";
}

TEST(BpfTable, ManyRulesAndWideOnes) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  std::vector<FrameRow> rows(600, entry);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].offset = 3 * i;
    rows[i].cfa.offset = static_cast<std::int32_t>(8 + 8 * i);
  }
  rows[100].cfa.offset = 1 << 20;
  rows[101].cfa.offset = -32768;
  rows[102].cfa.offset = -32769;
  rows[103].cfa.base = 300;
  rows[104].fp = Rule::at_cfa(-256);
  rows[105].fp = Rule::at_cfa(-257);
  rows[106].fp = Rule::at_cfa(256);
  rows[107].fp = Rule::stored(30, 255);
  rows[108].fp = Rule::stored(31, 0); // means the CFA in 16 bits
  rows[109].fp = Rule::in_register(12);
  rows[110].cfa = Rule::stored(6, -8);
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1001, .size = 2000}, rows));
  // A third time, so that its rules are the frequent ones.
  ASSERT_TRUE(builder.add({.start = 0x2000, .size = 300}, std::span(rows).first(90)));
  const Both both(builder);
  EXPECT_GT(both.made.rules, 590u);
  EXPECT_GT(both.made.escapes, 300u);
  EXPECT_EQ(both.made.wide_rules, 6u);
  both.expect_same_rules(0xff0, 0x2200);
}

TEST(BpfTable, ARowAtEachByte) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  std::vector<FrameRow> rows(600, entry);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].offset = i;
    rows[i].cfa.offset = static_cast<std::int32_t>(8 + 8 * (i % 2));
  }
  rows.erase(rows.begin() + 0x200); // the block before ends with its rule
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 600}, rows));
  const Both both(builder);
  EXPECT_EQ(both.made.lost_addresses, 4u);
  both.expect_same_rules(0x1000, 0x10fe);
  both.expect_same_rules(0x1100, 0x11fe);
  both.expect_same_rules(0x1200, 0x1300);
  EXPECT_EQ(both.table->find(0x10fe).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(both.table->find(0x10ff).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(both.table->find(0x11ff).kind, SFRAME_BPF_NONE);
}

TEST(BpfTable, SpanAndEnd) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  Builder far({}), high({});
  ASSERT_TRUE(far.add({.start = 0x1000, .size = 4}, {&entry, 1}));
  ASSERT_TRUE(far.add({.start = 0x1'0000'1000, .size = 4}, {&entry, 1}));
  ASSERT_TRUE(high.add({.start = 0xffff'ffff'ffff'fff0, .size = 0x10}, {&entry, 1}));
  const auto far_bytes = *far.finish(0), high_bytes = *high.finish(0);
  const Section far_section = *Section::parse(far_bytes), high_section = *Section::parse(high_bytes);
  const auto none = make_table({&far_section, 1}, {}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "its code spans more than 4 GiB (section .sframe)");
  const auto made = make_table({&high_section, 1}, {}, {});
  ASSERT_TRUE(made);
  const auto table = Table::parse(made->bytes);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find(0xffff'ffff'ffff'ffef).kind, SFRAME_BPF_NONE);
  EXPECT_EQ(table->find(0xffff'ffff'ffff'ffff).kind, SFRAME_BPF_ROW);
  EXPECT_EQ(table->find(0).kind, SFRAME_BPF_NONE);
}

/// Single bits of a table, inverted: it is refused, or lookups show the difference, so no bit is unused.
TEST(BpfTable, DamagedOnes) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  std::vector<FrameRow> rows(300, entry);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].offset = 3 * i;
    rows[i].cfa.offset = static_cast<std::int32_t>(8 + 8 * i);
  }
  rows.back().cfa.offset = 1 << 20;
  Builder builder({});
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 1000}, rows));
  const Both both(builder);
  const auto lookups = [](const Table& table) {
    std::vector<std::byte> all;
    for (std::uint64_t pc = 0x1000; pc < 0x1400; ++pc) {
      const sframe_bpf_rule rule = table.find(pc);
      const auto bytes = std::as_bytes(std::span(&rule, 1));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  };
  const auto intact = lookups(*both.table);
  std::size_t refused = 0, accepted = 0;
  for (std::size_t bit = 0; bit < 8 * both.made.bytes.size(); bit += 3) {
    std::vector<std::byte> damaged = both.made.bytes;
    damaged[bit / 8] ^= std::byte{1} << bit % 8;
    const auto table = Table::parse(damaged);
    ++(table ? accepted : refused);
    if (table && bit / 64 >= SFRAME_BPF_HEADER_WORDS) {
      EXPECT_NE(lookups(*table), intact) << bit;
    }
  }
  EXPECT_GT(refused, accepted / 2);
  for (std::size_t size = 0; size < both.made.bytes.size(); size += 5)
    EXPECT_FALSE(Table::parse(std::span(both.made.bytes).first(size)));
}

TEST(BpfTable, LookupsInAnyWordsAreBounded) {
  std::vector<unsigned char> noise(4096);
  std::uint32_t seed = 1;
  for (unsigned char& byte : noise)
    byte = static_cast<unsigned char>((seed = seed * 1664525 + 1013904223) >> 24);
  const sframe_bpf_words words{noise.data(), noise.size() / 8, 0};
  sframe_bpf_table table{};
  table.num_groups = table.num_rows = table.num_rules = table.num_escapes = table.num_wide = 0xffffffff;
  table.rows = 100;
  table.rules = 200;
  table.escapes = 300;
  table.wide = 400;
  for (std::uint64_t pc = 0; pc < 100000; ++pc) {
    sframe_bpf_rule rule{};
    sframe_bpf_find(words, &table, pc, &rule);
    EXPECT_LE(rule.kind, SFRAME_BPF_OUTERMOST);
  }
}

} // namespace bpf_table_test
} // namespace sframe::bpf
