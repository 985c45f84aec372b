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

/// Calls work(piece, scratch) once for each piece in [0, pieces), on up to `threads` threads, including the
/// caller's. make_scratch() makes one `scratch` per thread, for all its pieces: reusable memory. Returns when
/// all are done. Pieces are begun in order; both functions may run on several threads at once. If one throws,
/// no further piece is begun, and the first exception is rethrown in the caller's thread after all threads
/// have ended. With one thread or one piece no thread is started; if the system refuses a thread there are
/// fewer.
template <class MakeScratch, class Work>
void for_each_parallel(std::size_t pieces, unsigned threads, const MakeScratch& make_scratch,
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
  };
  const std::size_t wanted = std::min<std::size_t>(pieces, std::max(threads, 1u));
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(wanted);
    while (helpers.size() + 1 < wanted) {
      auto helper = try_thread<std::jthread>(run);
      if (!helper.joinable()) break; // those that were started do all the work
      helpers.push_back(std::move(helper));
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Same without scratch: calls work(piece).
template <class Work> void for_each_parallel(std::size_t pieces, unsigned threads, const Work& work) {
  struct Nothing {};
  for_each_parallel(
      pieces, threads, [] { return Nothing(); }, [&](std::size_t piece, Nothing&) { work(piece); });
}

/// Threads that pieces of work no longer need, for those that go on. A count only: whoever takes one starts
/// it.
class SpareThreads {
public:
  explicit SpareThreads(unsigned count = 0) : count_(count) {}

  void give(unsigned count) { count_ += count; }
  /// Takes up to `most`, to be given back.
  unsigned take(unsigned most) {
    unsigned there = count_;
    while (!count_.compare_exchange_weak(there, there - std::min(there, most))) {
    }
    return std::min(there, most);
  }

private:
  std::atomic<unsigned> count_;
};

/// The threads of a piece of work among others: its own, and spare ones if it asks from time to time.
struct ThreadShare {
  unsigned own = 1;
  unsigned most = 1;             ///< own and spare ones together
  SpareThreads* spare = nullptr; ///< nullptr: none

  ThreadShare() = default;
  ThreadShare(unsigned all) : own(all), most(all) {}
  ThreadShare(unsigned mine, SpareThreads& others, unsigned limit) : own(mine), most(limit), spare(&others) {}
};

/// What a share is at the moment; its spare threads are taken while the object lives.
class ThreadsNow {
public:
  explicit ThreadsNow(const ThreadShare& share)
      : share_(share),
        taken_(share.spare && share.most > share.own ? share.spare->take(share.most - share.own) : 0) {}
  ~ThreadsNow() {
    if (taken_) share_.spare->give(taken_);
  }
  ThreadsNow(const ThreadsNow&) = delete;
  ThreadsNow& operator=(const ThreadsNow&) = delete;

  unsigned count() const { return std::min(share_.own + taken_, share_.most); }

private:
  const ThreadShare& share_;
  unsigned taken_;
};

} // namespace sframe

#pragma GCC visibility pop
