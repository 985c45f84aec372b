// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mallopt(3) and madvise(2). GLIBC_TUNABLES=glibc.malloc.hugetlb=1 has a similar effect, but only if it is
// set when the program starts.

#include "sframe/tool/large_heap.h"

#ifdef __GLIBC__
#  include "sframe/large_vector.h"

#  include <algorithm>
#  include <climits>
#  include <cstdlib>
#  include <malloc.h>
#  include <mutex>
#  include <thread>
#  include <unistd.h>
#endif

namespace sframe::tool {

#ifdef __GLIBC__

namespace {

constexpr std::uint64_t mib = 1 << 20;

/// Inputs below get nothing: to clear large pages would take longer.
constexpr std::uint64_t least_input = 16 * mib;

/// How far the heap is extended: address space, of which only what is used becomes memory.
constexpr std::uint64_t least_heap = 32 * mib, most_heap = 1024 * mib;

std::uintptr_t heap_end() {
  return reinterpret_cast<std::uintptr_t>(::sbrk(0));
}

void extend_heap(std::uint64_t bytes) {
  // The heaps of other threads have no large pages. Few threads rarely wait for each other.
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(std::thread::hardware_concurrency() / 4, 1u)));
  ::mallopt(M_MMAP_THRESHOLD, 32 * mib); // the largest that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  const auto begin = heap_end();
  ::mallopt(M_TOP_PAD, static_cast<int>(bytes));
  void* volatile more_than_is_left = std::malloc(mib); // volatile: else a compiler may remove both calls
  std::free(more_than_is_left);
  ::mallopt(M_TOP_PAD, 2 * mib);
  advise_large_pages(reinterpret_cast<void*>(begin), heap_end() - begin);
}

} // namespace

void prepare_heap() {
  ::mallopt(M_MMAP_THRESHOLD, 4 * mib);
  ::mallopt(M_TRIM_THRESHOLD, 128 * mib);
  ::mallopt(M_TOP_PAD, mib);
}

void prepare_heap(std::uint64_t bytes) {
  if (bytes < least_input) return;
  static std::once_flag extended;
  std::call_once(extended, [&] { extend_heap(std::clamp(bytes / 4, least_heap, most_heap)); });
}

#else

void prepare_heap() {}
void prepare_heap(std::uint64_t) {}

#endif

} // namespace sframe::tool
