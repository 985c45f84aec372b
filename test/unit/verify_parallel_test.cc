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
      Workers workers(threads);
      const auto work = [](std::size_t begin, std::size_t end, int& scratch, Sink& sink) {
        EXPECT_LT(begin, end);
        EXPECT_EQ(scratch++, 7); // one thread at a time
        for (; begin < end; ++begin) sink.add({.id = Id::S001, .at = Location{0, begin}});
        --scratch;
      };
      check_in_chunks(
          workers, threads, wanted.size(), chunk, all, [] { return 7; }, work);
      EXPECT_EQ(all.pcs, wanted);
    }
}

// What is taken is never more than there are, and is there again afterwards.
TEST(VerifyParallel, WorkersAreTakenOnce) {
  Workers workers(4);
  EXPECT_EQ(workers.all(), 4u);
  EXPECT_EQ(workers.take(2), 2u);
  EXPECT_EQ(workers.take(100), 1u);
  EXPECT_EQ(workers.take(1), 0u);
  workers.give(3);
  workers.give(); // a thread that waits
  EXPECT_EQ(workers.take(100), 4u);
  workers.reclaim(); // it goes on, beside the one that has its place
  workers.give();
  EXPECT_EQ(workers.take(1), 0u);
  workers.give(3);
  EXPECT_EQ(workers.take(100), 3u);
  EXPECT_EQ(Workers(0).all(), 1u);
}

// Work inside work never has more threads at a time than there are workers, unless one that waited goes on.
TEST(VerifyParallel, WorkInsideWork) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Workers workers(threads);
    std::vector<std::atomic<int>> done(60);
    std::atomic<unsigned> outer = 0, most = 0;
    for_each_parallel(
        6, workers, workers.all(),
        [&] {
          const unsigned now = ++outer;
          for (unsigned seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          return 0;
        },
        [&](std::size_t i, int) {
          for_each_parallel(
              10, workers, workers.all(), [] { return 0; }, [&](std::size_t j, int) { ++done[i * 10 + j]; });
        });
    for (const auto& count : done) EXPECT_EQ(count, 1);
    EXPECT_LE(most, threads);
    EXPECT_EQ(workers.take(100), threads - 1);
  }
}

// Threads that become free join a piece of work that goes on.
TEST(VerifyParallel, FreeThreadsJoin) {
  Workers workers(2);
  EXPECT_EQ(workers.take(1), 1u);
  std::atomic<unsigned> scratches = 0;
  Pcs all;
  constexpr std::size_t per_round = 2 * 64;
  check_in_chunks(
      workers, 2, 2 * per_round, 1, all, [&] { return ++scratches; },
      [&](std::size_t begin, std::size_t, unsigned&, Sink& sink) {
        if (begin == per_round - 1) {
          EXPECT_EQ(scratches, 1u);
          workers.give();
        }
        sink.add({.id = Id::S001, .at = Location{0, begin}});
      });
  EXPECT_EQ(scratches, 3u); // one, then two
  EXPECT_EQ(workers.take(2), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(all.pcs));
}

} // namespace verify_parallel_test
