// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumberHash: numbers that would all be in one bucket by std::hash are spread. SecretHash: texts that had
// equal hashes while the secret was only where the hash began.

#include "sframe/number_hash.h"

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

TEST(SecretHash, NoWordUndoesAChangeOfTheOneBefore) {
  // hash = (hash ^ word) * odd; hash ^= hash >> 32. The highest bit of a word changes bits 63 and 31 of the
  // hash, whatever it was.
  constexpr unsigned pairs = 12;
  std::unordered_set<std::uint64_t> hashes;
  for (std::uint64_t changed = 0; changed < 1 << pairs; ++changed) {
    SecretHash hash;
    for (unsigned pair = 0; pair < pairs; ++pair) {
      const std::uint64_t change = changed >> pair & 1;
      hash.add(pair ^ change << 63);
      hash.add(pair ^ change << 63 ^ change << 31);
    }
    hashes.insert(hash.value());
  }
  EXPECT_EQ(hashes.size(), std::size_t{1} << pairs);
}

} // namespace
} // namespace sframe
