// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting by numbers.

#include <gtest/gtest.h>

#include <sframe/radix_sort.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sframe_radix_sort_test {

using namespace sframe;

struct Element {
  std::uint64_t key;
  std::uint32_t place; ///< before sorting
  bool operator==(const Element&) const = default;
};

// Keys that differ in some bits, of which many are equal; few and many elements.
TEST(RadixSort, AsStableSort) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t masks[] = {
      0, 0x3ff, 0xffffffff, 0x1ffffffff, 0xffffffff00000000, 0x8000000000000001, ~std::uint64_t{0}};
  for (const std::uint64_t mask : masks)
    for (const std::uint32_t count : {0u, 1u, 2u, 255u, 256u, 257u, 5000u}) {
      const std::uint64_t same = random() & ~mask;
      std::vector<Element> elements;
      for (std::uint32_t i = 0; i < count; ++i) {
        const bool again = i > 2 && random() % 4 == 0;
        elements.push_back({again ? elements[random() % i].key : (random() & mask) | same, i});
      }
      auto wanted = elements;
      std::ranges::stable_sort(wanted, {}, &Element::key);
      const auto order = radix_order(count, [&](std::uint32_t i) { return elements[i].key; });
      ASSERT_EQ(order.size(), count);
      for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(order[i], wanted[i].place) << mask;
      radix_sort(elements, [](const Element& element) { return element.key; });
      EXPECT_EQ(elements, wanted) << mask;
    }
}

} // namespace sframe_radix_sort_test
