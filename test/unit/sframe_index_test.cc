// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lookup index gives the same result as Section::find() at every address.

#include "inputs.h"
#include "sframe/builder.h"
#include "sframe/index.h"

#include <gtest/gtest.h>

namespace sframe {
namespace sframe_index_test {

void expect_same_answers(const Section& section, const Index& index, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t pc = from; pc != to; ++pc) {
    const IndexedRow* hit = index.find(pc);
    const auto match = section.find(pc);
    ASSERT_TRUE(match);
    ASSERT_EQ(hit != nullptr, match->has_value()) << std::hex << pc;
    if (!hit) continue;
    ASSERT_TRUE(hit->row.same_rules((*match)->row)) << std::hex << pc;
    ASSERT_EQ(hit->signal_frame, (*match)->fde.signal_frame);
    ASSERT_EQ(hit->pauth_key, (*match)->fde.pauth_key);
  }
}

TEST(Index, MatchesSection) {
  std::size_t functions = 0;
  for (const auto& path : test::inputs_ending(".sframe")) {
    if (path.parent_path().filename() == "cases") continue;
    const auto bytes = test::read_file(path);
    auto section = Section::parse(bytes, 0x100000);
    ASSERT_TRUE(section) << path;
    auto index = Index::build({&*section, 1});
    ASSERT_TRUE(index) << path;
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i, ++functions) {
      auto fde = section->fde(i);
      ASSERT_TRUE(fde);
      expect_same_answers(*section, *index, fde->start - 3,
                          fde->start + std::min<std::uint32_t>(fde->size, 5000) + 3);
    }
  }
  EXPECT_GT(functions, 100u);
}

TEST(Index, PcMaskFunctionsAndGaps) {
  Builder builder({});
  const FrameRow entry = traits(Abi::amd64).entry_row();
  FrameRow pushed = entry;
  pushed.offset = 11;
  pushed.cfa.offset = 16;
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 64, .pc_type = PcType::mask, .rep_size = 16},
                          std::vector{entry, pushed}));
  ASSERT_TRUE(builder.add({.start = 0x1040, .size = 32}, std::vector{pushed})); // nothing before offset 11
  ASSERT_TRUE(builder.add({.start = 0x1080, .size = 32}, {}));                  // outermost
  ASSERT_TRUE(
      builder.add({.start = 0x1100, .size = 32, .pc_type = PcType::mask, .rep_size = 16}, {})); // the same
  ASSERT_TRUE(builder.add({.start = 0x7f000000, .size = 1}, std::vector{entry}));
  const auto bytes = *builder.finish(0);
  auto section = Section::parse(bytes);
  auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  expect_same_answers(*section, *index, 0xff0, 0x1140);
  expect_same_answers(*section, *index, 0x7efffff0, 0x7f000010);
  EXPECT_EQ(index->find(0x101a)->row.cfa.offset, 8);
  EXPECT_EQ(index->find(0x101b)->row.cfa.offset, 16);
  EXPECT_EQ(index->find(0x104a), nullptr);
  EXPECT_TRUE(index->find(0x1081)->row.is_outermost());
  EXPECT_LT(index->memory(), 2000u) << "gigabytes without code cost nothing";
}

TEST(Index, SeveralSectionsAndOverlaps) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  FrameRow other = entry;
  other.cfa.offset = 99;
  Builder a({}), b({});
  ASSERT_TRUE(a.add({.start = 0x1000, .size = 0x100}, {&entry, 1}));
  ASSERT_TRUE(b.add({.start = 0x1080, .size = 0x10}, {&other, 1}));
  const auto first = *a.finish(0), second = *b.finish(0);
  const Section sections[] = {*Section::parse(first), *Section::parse(second)};
  auto index = Index::build(sections);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->find(0x107f)->row.cfa.offset, 8);
  EXPECT_EQ(index->find(0x1080)->row.cfa.offset, 99);
  EXPECT_EQ(index->find(0x1090), nullptr) << "the later function ends the earlier one";
}

TEST(Index, EmptySection) {
  const auto bytes = *Builder({}).finish(0);
  auto section = Section::parse(bytes);
  auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  EXPECT_EQ(index->find(0), nullptr);
  EXPECT_EQ(Index::build({})->find(0x1000), nullptr);
}

// From 0 around to 0x100: as distances from the lowest start, the end of the second function wraps.
TEST(Index, FunctionsAroundTheAddressSpaceAreTooLarge) {
  Builder builder({});
  const FrameRow entry = traits(Abi::amd64).entry_row();
  ASSERT_TRUE(builder.add({.start = 0, .size = 0x10}, {&entry, 1}));
  ASSERT_TRUE(builder.add({.start = 0xffffffffffffff00, .size = 0x200}, {&entry, 1}));
  const auto bytes = *builder.finish(0);
  auto section = Section::parse(bytes);
  const auto index = Index::build({&*section, 1});
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().kind, ErrorKind::too_large);
}

// "Their span must be below 4 GiB": 32 bits count up to 0xfffffffe, the highest number being taken.
TEST(Index, FunctionsSpanLessThan4GiB) {
  const FrameRow entry = traits(Abi::amd64).entry_row();
  for (const auto& [last, sound] : {std::pair{0xfffffffdu, true}, std::pair{0xfffffffeu, false}}) {
    Builder builder({});
    ASSERT_TRUE(builder.add({.start = 0x10000, .size = 1}, {&entry, 1}));
    ASSERT_TRUE(builder.add({.start = 0x10000 + std::uint64_t{last}, .size = 1}, {&entry, 1}));
    const auto bytes = *builder.finish(0);
    const auto section = Section::parse(bytes);
    const auto index = Index::build({&*section, 1});
    ASSERT_EQ(index.has_value(), sound);
    if (!sound) {
      EXPECT_EQ(index.error().kind, ErrorKind::too_large);
      continue;
    }
    EXPECT_NE(index->find(0x10000), nullptr);
    EXPECT_EQ(index->find(0x10001), nullptr);
    EXPECT_EQ(index->find(0x10000 + std::uint64_t{last} - 1), nullptr);
    EXPECT_NE(index->find(0x10000 + std::uint64_t{last}), nullptr);
    EXPECT_EQ(index->find(0x10000 + std::uint64_t{last} + 1), nullptr);
    EXPECT_EQ(index->find(0xffff), nullptr);
  }
}

// One row at each byte: more entries in a bucket than find() looks at all at once.
TEST(Index, FullBuckets) {
  Builder builder({});
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    rows.push_back(traits(Abi::amd64).entry_row());
    rows.back().offset = i;
    rows.back().cfa.offset = static_cast<std::int32_t>(8 + i % 64);
  }
  ASSERT_TRUE(builder.add({.start = 0x1000, .size = 3000}, rows));
  // Far away, so that buckets are large.
  ASSERT_TRUE(builder.add({.start = 0x4000000, .size = 16}, {rows.data(), 1}));
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  const auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const IndexedRow* row = index->find(0x1000 + i);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->row.cfa.offset, static_cast<std::int32_t>(8 + i % 64));
    EXPECT_EQ(row->row.offset, 0u);
  }
  EXPECT_GT(index->memory(), 3000 * sizeof(std::uint32_t)) << "a word for each row at least";
  EXPECT_LT(index->memory(), 3000 * 5 + 64 * 64 + 1000) << "about 5 bytes for each, and the distinct rules";
  EXPECT_EQ(index->find(0x1000 + 3000), nullptr);
  EXPECT_EQ(index->find(0xfff), nullptr);
}

// More entries in a group of buckets than the 16 bits for a bucket's first one can count.
TEST(Index, FullGroups) {
  constexpr std::uint32_t functions = 3, each = 60'000;
  Builder builder({});
  std::vector<FrameRow> rows(each, traits(Abi::amd64).entry_row());
  for (std::uint32_t i = 0; i < each; ++i) {
    rows[i].offset = i;
    rows[i].cfa.offset = static_cast<std::int32_t>(8 + i % 100);
  }
  for (std::uint32_t i = 0; i < functions; ++i)
    ASSERT_TRUE(builder.add({.start = 0x1000 + i * each, .size = each}, rows));
  // Far away, so that groups are large.
  ASSERT_TRUE(builder.add({.start = 0x80000000, .size = 16}, {rows.data(), 1}));
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  const auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  for (std::uint32_t i = 0; i < functions * each; ++i) {
    const IndexedRow* row = index->find(0x1000 + i);
    ASSERT_NE(row, nullptr);
    ASSERT_EQ(row->row.cfa.offset, static_cast<std::int32_t>(8 + i % each % 100)) << i;
  }
  EXPECT_EQ(index->find(0x1000 + functions * each), nullptr);
  EXPECT_EQ(index->find(0x7fffffff), nullptr);
  EXPECT_NE(index->find(0x80000000), nullptr);
}

// All rows are different, so that their numbers leave few bits for offsets; the functions are far apart.
TEST(Index, ManyDifferentRows) {
  constexpr std::uint32_t functions = 40'000, distance = 0x18000;
  Builder builder({});
  FrameRow row = traits(Abi::amd64).entry_row();
  for (std::uint32_t i = 0; i < functions; ++i) {
    row.cfa.offset = static_cast<std::int32_t>(8 + i);
    ASSERT_TRUE(builder.add({.start = std::uint64_t{i} * distance, .size = 2}, {&row, 1}));
  }
  const auto bytes = *builder.finish(0);
  const auto section = Section::parse(bytes);
  const auto index = Index::build({&*section, 1});
  ASSERT_TRUE(index);
  for (std::uint32_t i = 0; i < functions; ++i) {
    const std::uint64_t start = std::uint64_t{i} * distance;
    for (const std::uint64_t pc : {start, start + 1}) {
      const IndexedRow* found = index->find(pc);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->row.cfa.offset, static_cast<std::int32_t>(8 + i));
    }
    ASSERT_EQ(index->find(start - 1), nullptr);
    ASSERT_EQ(index->find(start + 2), nullptr);
  }
}

TEST(Index, MemoryIsBounded) {
  // 400 functions that all claim the same 1,000 rows: 35 rows for each byte of the section.
  Builder builder({.merge_rows = false, .share_rows = true});
  std::vector<FrameRow> rows;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    rows.push_back(traits(Abi::amd64).entry_row());
    rows.back().offset = i;
  }
  for (std::uint64_t i = 0; i < 400; ++i)
    ASSERT_TRUE(builder.add({.start = i * 0x1000, .size = 0x1000}, rows));
  const auto bytes = *builder.finish(0);
  auto section = Section::parse(bytes);
  auto index = Index::build({&*section, 1});
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().kind, ErrorKind::too_large);
}

} // namespace sframe_index_test
} // namespace sframe
