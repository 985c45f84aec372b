// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits by resource.

#include "sframe/base/budget.h"

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <thread>
#include <vector>

namespace sframe::elf {
namespace {

constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

TEST(Budget, IsUsedUpOnce) {
  Budget budget(Limits::standard, 1000);
  EXPECT_TRUE(budget.take(Resource::files, 4096));
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_FALSE(budget.problem());
  EXPECT_FALSE(budget.take(Resource::files));
  EXPECT_TRUE(budget.is_used_up());
  EXPECT_FALSE(budget.is_used_up(Resource::rows));
  EXPECT_FALSE(budget.take(Resource::rows, all));
  EXPECT_TRUE(budget.is_used_up(Resource::rows));
  EXPECT_EQ(budget.problem()->what.find("limit for an input of this size reached: 4096 files;"), 0u);
}

TEST(Budget, FailureIsPermanent) {
  Budget budget(Limits::standard, 0);
  EXPECT_FALSE(budget.take(Resource::files, 4097));
  EXPECT_FALSE(budget.take(Resource::files, 1));
  EXPECT_TRUE(budget.take(Resource::rows, 1));
}

TEST(Budget, GrowsWithTheInput) {
  Budget small(Limits::standard, 0), large(Limits::standard, 1 << 20), strict(Limits::strict, 1 << 20);
  EXPECT_FALSE(small.take(Resource::unpacked_bytes, 128 << 20));
  EXPECT_TRUE(large.take(Resource::unpacked_bytes, 128 << 20));
  EXPECT_TRUE(strict.take(Resource::unpacked_bytes, 32 << 20));
  EXPECT_FALSE(strict.take(Resource::unpacked_bytes, 1));
}

TEST(Budget, OffIsUnlimited) {
  Budget budget(Limits::off, 0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget.take(Resource::frames, all / 200));
  EXPECT_FALSE(budget.is_used_up());
}

TEST(Budget, LargeSizesDoNotWrap) {
  Budget budget(Limits::standard, all);
  EXPECT_TRUE(budget.take(Resource::rows, all));
}

TEST(Budget, TakeIsThreadSafe) {
  Budget budget(Limits::standard, 0);
  std::atomic<unsigned> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (budget.take(Resource::files)) ++taken;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 4096u);
}

} // namespace
} // namespace sframe::elf
