// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the readers of data that writers replace as a whole: a reader is counted while it uses what it
// found, and what was replaced is freed when nobody can have it any more. Readers neither wait nor lock, and
// may be signal handlers.
//
//   reader:                                      writer:
//     const ReaderCounters::Use use(counters);     old = current.exchange(made);
//     data = current.load(); ...                   idle |= counters.idle(), now and then, until it is all
//
// There are many counters, so that threads do not share cache lines. Data that was replaced is free when each
// counter has been seen at 0 after the replacement: earlier readers have ended, and later ones find the new
// data. (All of these operations, and the accesses to `current`, are in one total order; the writer
// synchronises with the decrement.)

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace sframe {

inline constexpr std::size_t thread_numbers = 64;

/// A number below thread_numbers: always the same for a thread, and for most threads one of their own. It
/// comes from the thread's address, which is available in signal handlers; threads' stacks are multiples of
/// pages apart.
inline std::size_t thread_number() {
  const auto self = static_cast<std::uint64_t>(pthread_self());
  return (self >> 6) * 0x9e3779b97f4a7c15 >> 58;
}

class ReaderCounters {
public:
  /// Every counter has been seen at 0.
  static constexpr std::uint64_t all = ~std::uint64_t{0};

  /// Counts the calling thread as a reader as long as the object lives. Async-signal-safe, wait-free.
  class Use {
  public:
    explicit Use(ReaderCounters& counters) : counter_(counters.counters_[thread_number()].readers) {
      counter_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~Use() { counter_.fetch_sub(1, std::memory_order_seq_cst); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

  private:
    std::atomic<std::uint32_t>& counter_;
  };

  /// Bit N: counter N is 0 now.
  std::uint64_t idle() const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < thread_numbers; ++i)
      bits |= std::uint64_t{counters_[i].readers.load(std::memory_order_seq_cst) == 0} << i;
    return bits;
  }

private:
  struct alignas(64) Counter { // one cache line each
    std::atomic<std::uint32_t> readers = 0;
  };
  std::array<Counter, thread_numbers> counters_;
};

} // namespace sframe
