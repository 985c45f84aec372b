// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts threads, and spreads work over them; the only code that does so. Threads take pieces from a list in
// turn. The assignment of pieces to threads is arbitrary, so pieces must be independent and each must write
// results to its own place; then the outcome does not depend on the number of threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// A thread that calls `run`. If the system refuses one, or there is no memory for it, the result is not
/// joinable, and the caller does the work itself, or without.
template <class Thread = std::thread, class Run> Thread try_thread(Run&& run) {
  try {
    return Thread(std::forward<Run>(run));
  } catch (const std::exception&) {
    return Thread();
  }
}

/// The threads of a program whose work divides into work that divides again: files, and the code of each. One
/// that has no piece left is free for other calls of for_each_parallel().
class Workers {
public:
  /// At least one: the caller's thread.
  explicit Workers(unsigned threads = 1) : all_(std::max(threads, 1u)), free_(static_cast<int>(all_) - 1) {}

  unsigned all() const { return all_; }
  /// Those of `most` threads that are free now. Each that is taken has to be given back.
  unsigned take(std::size_t most) {
    int there = free_;
    unsigned taken = 0;
    do
      taken =
          there > 0 ? static_cast<unsigned>(std::min<std::size_t>(most, static_cast<unsigned>(there))) : 0;
    while (!free_.compare_exchange_weak(there, there - static_cast<int>(taken)));
    return taken;
  }
  void give(unsigned count = 1) { free_ += static_cast<int>(count); }
  /// Takes back what the caller gave while it waited, whoever has it now.
  void reclaim() { --free_; }

private:
  unsigned all_;
  std::atomic<int> free_;
};

/// Calls work(piece, scratch) once for each piece in [0, pieces), on the caller's thread and those of
/// `workers` that are free now, `most` in all. make_scratch() makes one `scratch` per thread, for all its
/// pieces: reusable memory. Returns when all are done. Pieces are begun in order; both functions may run on
/// several threads at once. If one throws, no further piece is begun, and the first exception is rethrown in
/// the caller's thread after all threads have ended. With one thread or one piece no thread is started; if
/// the system refuses a thread there are fewer.
template <class MakeScratch, class Work>
void for_each_parallel(std::size_t pieces, Workers& workers, unsigned most, const MakeScratch& make_scratch,
                       const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::once_flag failed;
  const auto run = [&] {
    try {
      auto scratch = make_scratch();
      for (std::size_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;)
        work(piece, scratch);
    } catch (const std::exception&) {
      std::call_once(failed, [&] { failure = std::current_exception(); });
      next = pieces;
    }
    workers.give();
  };
  const std::size_t useful = std::min<std::size_t>(pieces, std::max(most, 1u));
  const unsigned wanted = useful > 1 ? workers.take(useful - 1) : 0;
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(wanted);
    while (helpers.size() < wanted) {
      auto helper = try_thread<std::jthread>(run);
      if (!helper.joinable()) break; // those that were started do all the work
      helpers.push_back(std::move(helper));
    }
    workers.give(wanted - static_cast<unsigned>(helpers.size()));
    run();
  }
  workers.reclaim();
  if (failure) std::rethrow_exception(failure);
}

/// Same on up to `threads` threads of its own, including the caller's.
template <class MakeScratch, class Work>
void for_each_parallel(std::size_t pieces, unsigned threads, const MakeScratch& make_scratch,
                       const Work& work) {
  Workers workers(threads);
  for_each_parallel(pieces, workers, threads, make_scratch, work);
}

/// Same without scratch: calls work(piece).
template <class Work> void for_each_parallel(std::size_t pieces, unsigned threads, const Work& work) {
  struct Nothing {};
  for_each_parallel(
      pieces, threads, [] { return Nothing(); }, [&](std::size_t piece, Nothing&) { work(piece); });
}

} // namespace sframe

#pragma GCC visibility pop
