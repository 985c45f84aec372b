// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumberHash: numbers that would all be in one bucket by std::hash are spread.

#include "sframe/base/number_hash.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <unordered_set>

namespace sframe {
namespace {

std::size_t largest_bucket(std::uint64_t factor) {
  constexpr std::uint64_t count = 20'000;
  std::unordered_set<std::uint64_t, NumberHash> numbers;
  numbers.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) numbers.insert(i * (factor ? factor : numbers.bucket_count()));
  EXPECT_EQ(numbers.size(), count);
  std::size_t largest = 0;
  for (std::size_t i = 0; i < numbers.bucket_count(); ++i)
    largest = std::max(largest, numbers.bucket_size(i));
  return largest;
}

TEST(NumberHash, MultiplesAreSpread) {
  // One number for each bucket: the largest of as many random ones has 8 or so.
  EXPECT_LT(largest_bucket(0), 40u); // of the number of buckets
  for (unsigned bits = 0; bits < 48; ++bits) EXPECT_LT(largest_bucket(std::uint64_t{1} << bits), 40u) << bits;
}

TEST(NumberHash, IsTheSameInAProcess) {
  EXPECT_EQ(NumberHash()(0x1000), NumberHash()(0x1000));
  EXPECT_NE(NumberHash()(0x1000), NumberHash()(0x1001));
}

} // namespace
} // namespace sframe
