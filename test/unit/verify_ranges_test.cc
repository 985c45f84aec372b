// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The owner of an address that is in several ranges.

#include "../../lib/verify/src/ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace sframe::verify {
namespace {

TEST(Ranges, InnerRangeWinsAndOuterGoesOn) {
  std::vector<Range> ranges{{10, 20, 2, 0}, {0, 100, 1, 0}};
  sort_ranges(ranges);
  EXPECT_EQ(disjoint(ranges), (std::vector<Range>{{0, 10, 1, 0}, {10, 20, 2, 0}, {20, 100, 1, 0}}));
}

TEST(Ranges, OfEqualStartsTheSmallestOfEqualRangesTheFirst) {
  std::vector<Range> ranges{{0, 8, 3, 0}, {0, 4, 2, 0}, {0, 4, 1, 0}, {4, 4, 9, 0}};
  sort_ranges(ranges);
  EXPECT_EQ(disjoint(ranges), (std::vector<Range>{{0, 4, 1, 0}, {4, 8, 3, 0}}));
}

TEST(Ranges, OverlayKeepsTheFirst) {
  const std::vector<Range> first{{10, 20, 1, 0}, {30, 40, 2, 0}};
  const std::vector<Range> second{{0, 35, 3, 1}, {36, 38, 4, 1}, {50, 60, 5, 1}};
  EXPECT_EQ(
      overlay(first, second),
      (std::vector<Range>{{0, 10, 3, 1}, {10, 20, 1, 0}, {20, 30, 3, 1}, {30, 40, 2, 0}, {50, 60, 5, 1}}));
}

/// The rule, address by address.
const Range* owner(const std::vector<Range>& ranges, std::uint64_t address) {
  const Range* best = nullptr;
  for (const Range& r : ranges) {
    if (address < r.begin || address >= r.end) continue;
    const bool wins = !best || r.begin > best->begin || (r.begin == best->begin && r.end < best->end) ||
                      (r.begin == best->begin && r.end == best->end && r.item < best->item);
    if (wins) best = &r;
  }
  return best;
}

TEST(Ranges, RandomRangesFollowTheRuleAtEveryAddress) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Range> given[2];
    for (std::uint32_t source = 0; source < 2; ++source)
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint64_t begin = random() % 40;
        given[source].push_back({begin, begin + random() % 20, i, source});
      }
    std::vector<Range> sorted[2] = {given[0], given[1]};
    for (auto& ranges : sorted) sort_ranges(ranges);
    const auto all = overlay(disjoint(sorted[0]), disjoint(sorted[1]));
    for (std::size_t i = 1; i < all.size(); ++i) ASSERT_LE(all[i - 1].end, all[i].begin);
    for (std::uint64_t address = 0; address < 64; ++address) {
      const Range* wanted = owner(given[0], address);
      if (!wanted) wanted = owner(given[1], address);
      const Range* found = owner(all, address);
      ASSERT_EQ(wanted == nullptr, found == nullptr) << round << ' ' << address;
      if (wanted) {
        ASSERT_EQ(wanted->item, found->item) << round << ' ' << address;
        ASSERT_EQ(wanted->source, found->source) << round << ' ' << address;
      }
    }
  }
}

} // namespace
} // namespace sframe::verify
