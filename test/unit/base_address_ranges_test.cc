// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The owner of an address that is in several ranges.

#include "sframe/base/address_ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace sframe {
namespace base_address_ranges_test {

TEST(Ranges, InnerRangeWins) {
  std::vector<OwnedRange> ranges{{10, 20, 2, 0}, {0, 100, 1, 0}};
  sort_ranges(ranges);
  EXPECT_EQ(disjoint(ranges), (std::vector<OwnedRange>{{0, 10, 1, 0}, {10, 20, 2, 0}, {20, 100, 1, 0}}));
}

TEST(Ranges, TieBreaking) {
  std::vector<OwnedRange> ranges{{0, 8, 3, 0}, {0, 4, 2, 0}, {0, 4, 1, 0}, {4, 4, 9, 0}};
  sort_ranges(ranges);
  EXPECT_EQ(disjoint(ranges), (std::vector<OwnedRange>{{0, 4, 1, 0}, {4, 8, 3, 0}}));
}

TEST(Ranges, OverlayKeepsTheFirst) {
  const std::vector<OwnedRange> first{{10, 20, 1, 0}, {30, 40, 2, 0}};
  const std::vector<OwnedRange> second{{0, 35, 3, 1}, {36, 38, 4, 1}, {50, 60, 5, 1}};
  EXPECT_EQ(overlay(first, second),
            (std::vector<OwnedRange>{
                {0, 10, 3, 1}, {10, 20, 1, 0}, {20, 30, 3, 1}, {30, 40, 2, 0}, {50, 60, 5, 1}}));
}

/// The rule, address by address.
const OwnedRange* owner(const std::vector<OwnedRange>& ranges, std::uint64_t address) {
  const OwnedRange* best = nullptr;
  for (const OwnedRange& r : ranges) {
    if (address < r.begin || address >= r.end) continue;
    const bool wins = !best || r.begin > best->begin || (r.begin == best->begin && r.end < best->end) ||
                      (r.begin == best->begin && r.end == best->end && r.item < best->item);
    if (wins) best = &r;
  }
  return best;
}

TEST(Ranges, RandomRanges) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<OwnedRange> given[2];
    for (std::uint32_t source = 0; source < 2; ++source)
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint64_t begin = random() % 40;
        given[source].push_back({begin, begin + random() % 20, i, source});
      }
    std::vector<OwnedRange> sorted[2] = {given[0], given[1]};
    for (auto& ranges : sorted) sort_ranges(ranges);
    const auto all = overlay(disjoint(sorted[0]), disjoint(sorted[1]));
    for (std::size_t i = 1; i < all.size(); ++i) ASSERT_LE(all[i - 1].end, all[i].begin);
    for (std::uint64_t address = 0; address < 64; ++address) {
      const OwnedRange* wanted = owner(given[0], address);
      if (!wanted) wanted = owner(given[1], address);
      const OwnedRange* found = owner(all, address);
      ASSERT_EQ(wanted == nullptr, found == nullptr) << round << ' ' << address;
      if (wanted) {
        ASSERT_EQ(wanted->item, found->item) << round << ' ' << address;
        ASSERT_EQ(wanted->source, found->source) << round << ' ' << address;
      }
    }
  }
}

TEST(Ranges, ContainsAndOverlapsNearTheTop) {
  const AddressRange top{~0ull - 7, 8}, middle{16, 16};
  EXPECT_TRUE(top.contains(~0ull));
  EXPECT_FALSE(top.contains(0));
  EXPECT_EQ(top.end(), last_address);
  EXPECT_TRUE(middle.contains(AddressRange{16, 16}) && middle.contains(AddressRange{32, 0}));
  EXPECT_FALSE(middle.contains(AddressRange{31, 2}) || middle.contains(AddressRange{0, 64}));
  EXPECT_TRUE(middle.overlaps({31, 2}) && middle.overlaps({0, 64}) && top.overlaps({~0ull, 1}));
  EXPECT_FALSE(middle.overlaps({32, 1}) || middle.overlaps({20, 0}) || AddressRange(20, 0).overlaps(middle));
  EXPECT_TRUE(AddressRange::between(5, 5).empty() && AddressRange::between(6, 5).empty());
}

TEST(AddressSets, JoinWhatOverlapsOrTouches) {
  const AddressSet set({{40, 2}, {10, 10}, {15, 1}, {20, 5}, {30, 0}});
  const AddressRange joined[] = {{10, 15}, {40, 2}};
  EXPECT_TRUE(std::ranges::equal(set.ranges(), joined));
  EXPECT_EQ(set.size(), 17u);
  EXPECT_EQ(set.size_in_common(AddressSet({{0, 12}, {24, 17}})), 4u);
  EXPECT_EQ(set.from(25).size(), 1u);
  EXPECT_EQ(set.from(24).size(), 2u);
}

TEST(AddressSets, TheLastAddressIsAMember) {
  AddressSet set({{~0ull - 1, 2}, {~0ull - 9, 100}}); // the second would wrap
  EXPECT_EQ(set.size(), 10u);
  EXPECT_TRUE(set.contains(~0ull) && !set.contains(0));
  set.add({0, 1});
  EXPECT_EQ(set.ranges().size(), 2u);
  EXPECT_EQ(set.size_in_common(set), 11u);
  EXPECT_TRUE(set.without(set).empty());

  const AddressSet last({{~0ull, 1}}), before({{~0ull - 3, 3}});
  EXPECT_EQ(last.without(before).ranges().size(), 1u);
  EXPECT_EQ(last.outside({~0ull - 3, 9}),
            (std::vector<AddressRange>{{~0ull - 3, 3}})); // the range would wrap
  EXPECT_EQ(before.outside({~0ull - 3, 4}), (std::vector<AddressRange>{{~0ull, 1}}));
  EXPECT_EQ(AddressSet().outside({~0ull, 1}), (std::vector<AddressRange>{{~0ull, 1}}));
}

TEST(AddressSets, AddingOneByOneGivesTheSame) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<AddressRange> ranges;
    AddressSet one_by_one;
    for (int i = 0; i < 8; ++i) {
      ranges.push_back({random() % 60, random() % 6});
      one_by_one.add(ranges.back());
    }
    const AddressSet at_once(ranges);
    ASSERT_TRUE(std::ranges::equal(one_by_one.ranges(), at_once.ranges())) << round;
    for (std::uint64_t address = 0; address < 70; ++address)
      ASSERT_EQ(at_once.contains(address),
                std::ranges::any_of(ranges, [&](const AddressRange& r) { return r.contains(address); }));
  }
}

TEST(AddressSets, InCommonOutsideAndWithout) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    // Also at the end of the address space, where the end of a range is not above its start.
    const std::uint64_t base = round % 2 ? 0 : ~0ull - 63;
    const auto some = [&] {
      std::vector<AddressRange> ranges;
      for (int i = 0; i < 4; ++i) ranges.push_back({base + random() % 64, random() % 16});
      return AddressSet(ranges);
    };
    const AddressSet a = some(), b = some();
    const AddressRange range{base + random() % 40, random() % 24};
    const AddressSet both = a.in_common(b), only = a.without(b), gaps(a.outside(range));
    for (std::uint64_t i = 0; i < 64; ++i) {
      const std::uint64_t address = base + i;
      ASSERT_EQ(both.contains(address), a.contains(address) && b.contains(address)) << round << ' ' << i;
      if (address == last_address) continue; // an end cannot be after it
      ASSERT_EQ(only.contains(address), a.contains(address) && !b.contains(address)) << round << ' ' << i;
      ASSERT_EQ(gaps.contains(address), range.contains(address) && !a.contains(address)) << round << ' ' << i;
    }
    // Each part is given once, in order.
    const auto parts = a.outside(range);
    ASSERT_TRUE(std::ranges::equal(gaps.ranges(), parts)) << round;
    for (const AddressSet* set : {&both, &only})
      ASSERT_TRUE(std::ranges::is_sorted(set->ranges(), {}, &AddressRange::start)) << round;
  }
  const AddressSet set({{10, 5}});
  EXPECT_TRUE(set.outside({10, 5}).empty() && set.outside({12, 0}).empty());
}

} // namespace base_address_ranges_test
} // namespace sframe
