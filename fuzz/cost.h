// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost oracle of the fuzz targets: time and memory above a bound linear in the input's size are a crash.
// A target makes one Cost for each input:
//
//    const Cost cost(size, {.memory_per_byte = 64});
//
// Time is the CPU time of the process, on all its threads. Sanitizers make programs some 10 times slower, so
// the bounds are ten times those of a release build (1 second for 1 MB). Memory is what malloc and related
// functions hold at once, without what was allocated before: counted by AddressSanitizer, else by replay.cc.
// Memory from mmap is left to libFuzzer's -rss_limit_mb; endless loops to -timeout.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

// As in <sanitizer/allocator_interface.h>, which GCC does not have. With libFuzzer and without
// AddressSanitizer (scripts/fuzz --coverage) they are not defined, and memory is not counted.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void* memory);
}
#pragma weak __sanitizer_install_malloc_and_free_hooks
#pragma weak __sanitizer_get_allocated_size

namespace sframe::fuzz {

/// Crashes if `condition` does not hold.
inline void require(bool condition, const char* what = "a property does not hold") {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

struct Bound {
  double seconds = 1.0;                          ///< for an empty input: the machine may be busy
  double seconds_per_byte = 10e-6;               ///< 10 s for 1 MB
  std::uint64_t memory = std::uint64_t(8) << 20; ///< bytes for an empty input: tables of a fixed size
  std::uint64_t memory_per_byte = 248;           ///< 256 MB for 1 MB, with the above
};

/// For targets that process their input in many ways: every format, every stepper, forward and back.
inline constexpr Bound many_passes{
    .seconds = 5, .seconds_per_byte = 100e-6, .memory = std::uint64_t(64) << 20, .memory_per_byte = 1024};

namespace detail {
inline std::atomic<std::int64_t> held{0}, peak{0};

inline void on_malloc(const volatile void*, std::size_t size) {
  const std::int64_t now = held.fetch_add(static_cast<std::int64_t>(size)) + static_cast<std::int64_t>(size);
  for (std::int64_t before = peak; before < now && !peak.compare_exchange_weak(before, now);) {
  }
}
inline void on_free(const volatile void* memory) {
  if (memory)
    held -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}
inline double seconds() {
  struct timespec now {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
} // namespace detail

class Cost {
public:
  explicit Cost(std::size_t input_size, Bound bound = {}) : size_(input_size), bound_(bound) {
    static const bool hooked =
        !__sanitizer_install_malloc_and_free_hooks ||
        __sanitizer_install_malloc_and_free_hooks(detail::on_malloc, detail::on_free) != 0;
    require(hooked, "no hooks for malloc");
    before_ = detail::held;
    detail::peak = before_;
    start_ = detail::seconds();
  }
  Cost(const Cost&) = delete;

  ~Cost() {
    const double seconds = detail::seconds() - start_;
    const auto memory = static_cast<std::uint64_t>(std::max<std::int64_t>(0, detail::peak - before_));
    const double most_seconds = bound_.seconds + bound_.seconds_per_byte * static_cast<double>(size_);
    const std::uint64_t most_memory = bound_.memory + bound_.memory_per_byte * size_;
    if (seconds <= most_seconds && memory <= most_memory) return;
    std::fprintf(stderr, "cost: %zu bytes of input took %.2f s (bound %.2f s) and %llu bytes (bound %llu)\n",
                 size_, seconds, most_seconds, static_cast<unsigned long long>(memory),
                 static_cast<unsigned long long>(most_memory));
    std::abort();
  }

private:
  std::size_t size_;
  Bound bound_;
  std::int64_t before_ = 0;
  double start_ = 0;
};

} // namespace sframe::fuzz
