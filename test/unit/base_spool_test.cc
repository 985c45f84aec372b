// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spools in the temporary file: several at once, with zeros at their ends, and one after the other.

#include "sframe/base/spool.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace base_spool_test {

using sframe::Spool;

constexpr std::size_t block = 1 << 20;
/// More blocks than are kept in memory, and then zeros.
constexpr std::size_t blocks = Spool::most_in_memory / block + 2, zero_blocks = 2;

Spool filled(std::byte with) {
  Spool spool;
  const std::vector<std::byte> data(block, with), zeros(block);
  for (std::size_t i = 0; i < blocks; ++i) EXPECT_TRUE(spool.append(data));
  for (std::size_t i = 0; i < zero_blocks; ++i) EXPECT_TRUE(spool.append(zeros));
  EXPECT_TRUE(spool.finish());
  return spool;
}

void expect_filled(const Spool& spool, std::byte with) {
  ASSERT_EQ(spool.size(), (blocks + zero_blocks) * block);
  const auto bytes = spool.bytes();
  EXPECT_TRUE(std::ranges::all_of(bytes.first(blocks * block), [&](std::byte b) { return b == with; }));
  EXPECT_TRUE(
      std::ranges::all_of(bytes.subspan(blocks * block), [](std::byte b) { return b == std::byte{}; }));
}

/// One that is finished while another one is written must not cut that.
TEST(Spool, SeveralAtOnce) {
  std::vector<std::thread> threads;
  for (int number = 1; number <= 3; ++number)
    threads.emplace_back([number] {
      for (int round = 0; round < 2; ++round) expect_filled(filled(std::byte(number)), std::byte(number));
    });
  for (std::thread& thread : threads) thread.join();
}

/// What one has left is not seen in the next.
TEST(Spool, OneAfterTheOther) {
  const std::vector<std::byte> data(block, std::byte{7}), zeros(block);
  {
    Spool spool;
    for (std::size_t i = 0; i < blocks + zero_blocks; ++i) EXPECT_TRUE(spool.append(data));
    EXPECT_TRUE(spool.finish());
  }
  expect_filled(filled(std::byte{9}), std::byte{9});
}

} // namespace base_spool_test
