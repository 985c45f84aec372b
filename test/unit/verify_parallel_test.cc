// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work on several threads: each item once, findings in the order of the items.

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>

#include <sframe/base/parallel.h>
#include <sframe/verify/parallel.h>

#include <numeric>

namespace verify_parallel_test {

using namespace sframe;
using namespace sframe::verify;

TEST(VerifyParallel, EachItemOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    std::vector<std::atomic<int>> done(100);
    sframe::for_each_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
  sframe::for_each_parallel(0, 4, [](std::size_t) { FAIL(); });
}

// Memory that runs out on any thread is the caller's to handle; nothing is left running. Without a stop, the
// items that are left would take hours.
TEST(VerifyParallel, ExceptionsReachCaller) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    std::atomic<std::size_t> running = 0, begun = 0;
    const auto work = [&](std::size_t i) {
      ++running;
      ++begun;
      if (i == 50) --running, throw std::bad_alloc();
      --running;
    };
    EXPECT_THROW(sframe::for_each_parallel(std::size_t{1} << 44, threads, work), std::bad_alloc);
    EXPECT_EQ(running, 0u);
    EXPECT_GE(begun, 51u);
  }
}

struct Pcs : Sink {
  void add(Finding finding) override { pcs.push_back(finding.at->pc); }
  std::vector<std::uint64_t> pcs;
};

TEST(VerifyParallel, FindingsAreInOrder) {
  std::vector<std::uint64_t> wanted(1000);
  std::iota(wanted.begin(), wanted.end(), 0);
  for (const unsigned threads : {0u, 1u, 3u})
    for (const std::size_t chunk : {1u, 7u, 1000u, 5000u}) {
      Pcs all;
      const auto work = [](std::size_t begin, std::size_t end, int& scratch, Sink& sink) {
        EXPECT_LT(begin, end);
        EXPECT_EQ(scratch++, 7); // one thread at a time
        for (; begin < end; ++begin) sink.add({.id = Id::S001, .at = Location{0, begin}});
        --scratch;
      };
      check_in_chunks(
          threads, wanted.size(), chunk, all, [] { return 7; }, work);
      EXPECT_EQ(all.pcs, wanted);
    }
}

// The threads of a file among others: its own, and those that are spare, which are there again afterwards.
TEST(VerifyParallel, SpareThreads) {
  SpareThreads spare(3);
  const ThreadShare all(2, spare, 8), few(2, spare, 4), none(2u), less(2, spare, 1);
  {
    const ThreadsNow first(few), second(all), third(all);
    EXPECT_EQ(first.count(), 4u);
    EXPECT_EQ(second.count(), 3u);
    EXPECT_EQ(third.count(), 2u);
    spare.give(5);
    EXPECT_EQ(ThreadsNow(all).count(), 7u);
    EXPECT_EQ(ThreadsNow(none).count(), 2u);
    EXPECT_EQ(ThreadsNow(less).count(), 1u);
  }
  EXPECT_EQ(spare.take(100), 8u);
  EXPECT_EQ(spare.take(1), 0u);
}

// Threads that become spare join a piece of work that goes on.
TEST(VerifyParallel, SpareThreadsJoin) {
  SpareThreads spare;
  std::atomic<unsigned> scratches = 0;
  Pcs all;
  constexpr std::size_t per_round = 2 * 64;
  check_in_chunks(
      ThreadShare(1, spare, 2), 2 * per_round, 1, all, [&] { return ++scratches; },
      [&](std::size_t begin, std::size_t, unsigned&, Sink& sink) {
        if (begin == per_round - 1) {
          EXPECT_EQ(scratches, 1u);
          spare.give(1);
        }
        sink.add({.id = Id::S001, .at = Location{0, begin}});
      });
  EXPECT_EQ(scratches, 3u); // one, then two
  EXPECT_EQ(spare.take(2), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(all.pcs));
}

} // namespace verify_parallel_test
