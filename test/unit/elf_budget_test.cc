// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits by resource.

#include "sframe/base/budget_shares.h"
#include "sframe/base/parallel.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

namespace sframe::elf {
namespace elf_budget_test {

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
  EXPECT_FALSE(small.take(Resource::unpacked_bytes, 32 << 20));
  EXPECT_TRUE(large.take(Resource::unpacked_bytes, 32 << 20));
  EXPECT_TRUE(strict.take(Resource::unpacked_bytes, 8 << 20));
  EXPECT_FALSE(strict.take(Resource::unpacked_bytes, 1));
}

TEST(Budget, OffIsUnlimited) {
  Budget budget(Limits::off, 0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget.take(Resource::frames, all / 200));
  EXPECT_FALSE(budget.is_used_up());
}

// The table in docs/limits.md, for an input of 4 KiB.
TEST(Budget, LimitsBySize) {
  constexpr std::uint64_t mib = 1 << 20, size = 4096;
  struct Limit {
    Resource resource;
    std::string_view name;
    std::uint64_t amount;
  };
  const Limit limits[] = {
      {Resource::section_bytes, "section bytes", 8 * mib + 8 * size},
      {Resource::unpacked_bytes, "decompressed bytes", 16 * mib + 16 * size},
      {Resource::name_bytes, "bytes of names", 16 * mib + 16 * size},
      {Resource::cfi_instructions, "CFI instructions", 4 * mib + 8 * size},
      {Resource::rows, "rows", 256 * 1024 + 4 * size},
      {Resource::frames, "frames", 128 * 1024 + size / 4},
      {Resource::printed_bytes, "bytes of output", 24 * mib + 96 * size},
      {Resource::files, "files", 4096},
      {Resource::guesses, "bytes of code and stack for heuristics", 4 * mib + size},
      {Resource::copied_bytes, "bytes of generated code", 8 * mib + 8 * size},
      {Resource::debug_steps, "steps in debug information", 16 * mib + 4 * size},
      {Resource::code_steps, "steps of code analysis", 4 * mib + 16 * size},
  };
  EXPECT_EQ(std::size(limits), resource_count - 2); // processor_time and memory are of the process
  const Budget standard(Limits::standard, size), strict(Limits::strict, size), off(Limits::off, size);
  for (const Resource resource : {Resource::processor_time, Resource::memory})
    EXPECT_EQ(standard.left(resource), 0u) << "cannot be taken";
  for (const Limit& limit : limits) {
    EXPECT_EQ(name_of(limit.resource), limit.name);
    EXPECT_EQ(standard.left(limit.resource), limit.amount) << limit.name;
    EXPECT_EQ(strict.left(limit.resource), limit.amount / 4) << limit.name;
    EXPECT_EQ(off.left(limit.resource), all) << limit.name;
  }
}

TEST(Budget, SectionsInATable) {
  Budget budget(Limits::standard, 0);
  const std::uint64_t before = budget.left(Resource::rows);
  EXPECT_TRUE(budget.take_section());
  EXPECT_EQ(budget.left(Resource::rows), before - 8);
}

// Every resource is shared: what one piece takes, others lack, and the whole is charged for.
TEST(BudgetShares, EveryResource) {
  for (std::size_t i = 0; i < resource_count; ++i) {
    const auto resource = static_cast<Resource>(i);
    if (is_of_process(resource)) continue;
    Budget whole(Limits::standard, 0);
    const std::uint64_t before = whole.left(resource);
    {
      BudgetShares shares(&whole, std::vector<std::uint64_t>{1, 1});
      {
        BudgetShares::Share first(shares, 0);
        EXPECT_EQ(first.left(resource), before / 4);
        EXPECT_TRUE(first.take(resource, before / 2));
      }
      BudgetShares::Share second(shares, 1);
      EXPECT_TRUE(second.take(resource, before / 4 + 1));
      EXPECT_EQ(second.left(resource), before / 4 - 1);
    }
    EXPECT_EQ(whole.left(resource), before / 4 - 1) << name_of(resource);
    EXPECT_FALSE(whole.is_used_up());
  }
}

/// Exits with 0 if all budgets end, and say why; end_all() has an effect on the whole process.
[[noreturn]] void end_all_and_exit() {
  Budget before(Limits::standard, 0), off(Limits::off, 0);
  bool right = before.take(Resource::rows) && !Budget::all_ended();
  {
    BudgetShares shares(&before, std::vector<std::uint64_t>{1});
    BudgetShares::Share share(shares, 0);
    Budget::end_all(Resource::processor_time, 250);
    Budget::end_all(Resource::memory, 1); // too late
    right &= !share.take(Resource::rows) && share.ends_walks();
  }
  constexpr std::string_view why =
      "limit for an input of this size reached: 250 milliseconds of processor time; "
      "the rest is skipped (--limits=off removes the limit)";
  right &= before.is_used_up(Resource::processor_time) && before.problem()->text() == why;
  right &= !off.take(Resource::rows) && off.problem()->text() == why;
  right &= Budget::all_ended()->text() == why;
  Budget::resume_all();
  Budget after(Limits::standard, 0);
  right &= !Budget::all_ended() && after.take(Resource::rows) && !after.ended_with_all();
  right &= before.ended_with_all() && before.problem()->text() == why;
  Budget::end_all(Resource::memory, 7);
  Budget::end_all(Resource::memory, 8); // too late
  constexpr std::string_view memory = "limit for an input of this size reached: 7 MiB of memory;";
  right &=
      !after.take(Resource::rows) && after.ended_with_all() && after.problem()->text().starts_with(memory);
  right &= Budget::all_ended()->text().starts_with(memory);
  right &= before.problem()->text() == why; // what ended it, not the others
  std::exit(right ? 0 : 1);
}

TEST(BudgetDeathTest, AllEnd) {
  EXPECT_EXIT(end_all_and_exit(), testing::ExitedWithCode(0), "");
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

/// How many files could be taken for each piece; each wants `wanted`.
std::vector<unsigned> files_of_pieces(Budget& whole, const std::vector<std::uint64_t>& sizes,
                                      const std::vector<unsigned>& wanted, unsigned threads) {
  std::vector<unsigned> got(sizes.size());
  BudgetShares shares(&whole, sizes);
  for_each_parallel(sizes.size(), threads, [&](std::size_t piece) {
    BudgetShares::Share budget(shares, piece);
    // The first pieces take longest.
    std::this_thread::sleep_for(std::chrono::milliseconds(sizes.size() - piece));
    while (got[piece] < wanted[piece] && budget.take(Resource::files)) ++got[piece];
    EXPECT_EQ(budget.is_used_up(Resource::files), got[piece] < wanted[piece]);
  });
  return got;
}

TEST(BudgetShares, HalfIsForEachAndHalfForTheFirst) {
  Budget whole(Limits::standard, 0); // 4096 files
  EXPECT_EQ(files_of_pieces(whole, {1, 3}, {9999, 9999}, 1), (std::vector<unsigned>{512 + 2048, 1536}));
  EXPECT_TRUE(whole.is_used_up(Resource::files));
  EXPECT_FALSE(whole.is_used_up(Resource::rows));
  EXPECT_FALSE(whole.take(Resource::files));
  EXPECT_EQ(whole.problem()->what.find("limit for an input of this size reached: 4096 files;"), 0u);
}

TEST(BudgetShares, WhatIsLeftIsForThoseAfter) {
  Budget whole(Limits::standard, 0);
  EXPECT_EQ(files_of_pieces(whole, {1, 1, 2}, {24, 4000, 9999}, 1), (std::vector<unsigned>{24, 3048, 1024}));
  Budget other(Limits::standard, 0);
  EXPECT_EQ(files_of_pieces(other, {1, 1}, {0, 9999}, 1), (std::vector<unsigned>{0, 4096}));
}

TEST(BudgetShares, WholeIsCharged) {
  Budget whole(Limits::standard, 0);
  EXPECT_EQ(files_of_pieces(whole, {1, 1}, {10, 2000}, 2), (std::vector<unsigned>{10, 2000}));
  EXPECT_FALSE(whole.is_used_up());
  EXPECT_EQ(whole.left(Resource::files), 4096u - 2010);
  EXPECT_EQ(files_of_pieces(whole, {}, {}, 1), std::vector<unsigned>());
  EXPECT_EQ(files_of_pieces(whole, {0, 0}, {5, 0}, 1), (std::vector<unsigned>{5, 0}));
  EXPECT_EQ(whole.left(Resource::files), 4096u - 2015);
}

// Half for each is nothing here; the first takes all.
TEST(BudgetShares, PiecesWithoutASize) {
  Budget whole(Limits::standard, 0);
  EXPECT_EQ(files_of_pieces(whole, {0, 0}, {9999, 1}, 1), (std::vector<unsigned>{4096, 0}));
  EXPECT_TRUE(whole.is_used_up(Resource::files));
}

TEST(BudgetShares, OffIsUnlimited) {
  Budget whole(Limits::off, 0);
  EXPECT_EQ(files_of_pieces(whole, {1, 1}, {50000, 50000}, 2), (std::vector<unsigned>{50000, 50000}));
  EXPECT_FALSE(whole.is_used_up());
}

TEST(BudgetShares, DoNotDependOnThreads) {
  const std::vector<std::uint64_t> sizes = {1, 5, 2, 1, 7, 1, 1, 3, 2, 2};
  const std::vector<unsigned> wanted = {900, 10, 1500, 60, 100, 900, 9999, 10, 300, 9999};
  Budget whole(Limits::standard, 0);
  const auto expected = files_of_pieces(whole, sizes, wanted, 1);
  EXPECT_LT(expected[6], 9999u);
  for (const unsigned threads : {2u, 3u, 7u, 16u}) {
    Budget again(Limits::standard, 0);
    EXPECT_EQ(files_of_pieces(again, sizes, wanted, threads), expected) << threads;
  }
}

// The resource that the first piece used up is reported, whichever thread was faster.
TEST(BudgetShares, FirstIsByPiece) {
  for (int i = 0; i < 20; ++i) {
    Budget whole(Limits::standard, 0);
    {
      BudgetShares shares(&whole, std::vector<std::uint64_t>{1, 1});
      for_each_parallel(2, 2, [&](std::size_t piece) {
        BudgetShares::Share budget(shares, piece);
        EXPECT_FALSE(budget.take(piece ? Resource::rows : Resource::files, all));
      });
    }
    EXPECT_NE(whole.problem()->what.find("4096 files"), std::string::npos);
    EXPECT_TRUE(whole.is_used_up(Resource::rows));
  }
}

// A piece that ends by an exception lets those after it continue.
TEST(BudgetShares, ExceptionsEndPieces) {
  Budget whole(Limits::standard, 0);
  std::atomic<unsigned> done = 0;
  const auto run = [&] {
    BudgetShares shares(&whole, std::vector<std::uint64_t>{1, 1});
    for_each_parallel(2, 2, [&](std::size_t piece) {
      BudgetShares::Share budget(shares, piece);
      if (piece == 0) throw std::bad_alloc();
      EXPECT_TRUE(budget.take(Resource::files, 3000));
      ++done;
    });
  };
  for (int i = 0; i < 10; ++i) {
    try {
      run();
      ADD_FAILURE();
    } catch (const std::bad_alloc&) {
    }
    whole.refill(0);
  }
  EXPECT_LE(done, 10u);
}

} // namespace elf_budget_test
} // namespace sframe::elf
