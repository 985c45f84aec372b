// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel checks the memory by rt_sigprocmask with an invalid `how`: it first copies the new mask from
// the address (EFAULT), then rejects `how` (EINVAL). This changes nothing and needs no descriptor.

#include "stack_memory.h"

#include "sframe/address.h"

#include <atomic>
#include <cerrno>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

// The top of the main thread's stack, set by the kernel. In glibc; null elsewhere.
extern "C" [[gnu::weak]] void* __libc_stack_end;

namespace sframe::here {

namespace {

/// Gaps up to this are checked page by page, so that the range stays contiguous.
constexpr std::uint64_t largest_gap = 64 * smallest_page;
/// Thread-local variables are between the outermost frame and the end of a thread's stack.
constexpr std::uint64_t largest_rest = 16 * smallest_page;

/// Addresses above are not in user memory, and rounding up would wrap.
constexpr std::uint64_t highest = ~std::uint64_t{0} - 2 * smallest_page;

constexpr std::uint64_t page_of(std::uint64_t address) {
  return address & ~(smallest_page - 1);
}

/// Bytes of a signal mask in the kernel.
constexpr std::size_t mask_size = 8;

bool readable(std::uint64_t page) {
  const int before = errno;
  // A null pointer would mean no mask.
  const bool is =
      page != 0 && syscall(SYS_rt_sigprocmask, ~0L, page, nullptr, mask_size) != 0 && errno == EINVAL;
  errno = before;
  return is;
}

/// The part of the thread's own stack that is known to be readable. A signal handler of the thread may run
/// between two stores: `high` never changes once it is set, and until then the range is empty.
struct KnownStack {
  std::atomic<std::uint64_t> low = 0, high = 0;

  bool contains(std::uint64_t address) const {
    return address >= low.load(std::memory_order_relaxed) && address < high.load(std::memory_order_relaxed);
  }
};
// In the thread's static block: the first use of other thread-local variables may allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local KnownStack known;

/// Upper end of a stack: what the kernel put above the main thread's first frame, or the control block of
/// any other thread.
std::uint64_t main_stack_end() {
  return &__libc_stack_end ? reinterpret_cast<std::uint64_t>(__libc_stack_end) : 0;
}
std::uint64_t thread_control_block() {
  return static_cast<std::uint64_t>(pthread_self());
}

bool is_main_thread() {
  return syscall(SYS_gettid) == syscall(SYS_getpid);
}

} // namespace

StackMemory::StackMemory(std::uint64_t sp) {
  // SP may be in the page before the one with the first word that is read, which is the lowest known one.
  assumed_ = !known.contains(sp);
  if (!assumed_ || known.contains(sp + smallest_page))
    set_range(known.low.load(std::memory_order_relaxed), known.high.load(std::memory_order_relaxed));
}

void StackMemory::set_range(std::uint64_t low, std::uint64_t high) {
  low_ = low;
  high_ = high;
  starts_ = high - low < sizeof(std::uint64_t) ? 0 : high - low - sizeof(std::uint64_t) + 1;
}

/// Adds the pages from `first` to `end`, which are adjacent to the range, up to the first unreadable one.
bool StackMemory::extend(std::uint64_t first, std::uint64_t end) {
  if (first < low_) {
    while (low_ > first && readable(low_ - smallest_page)) set_range(low_ - smallest_page, high_);
    if (low_ > first) return false;
  }
  while (high_ < end && readable(high_)) {
    const bool at_known = high_ == known.low.load(std::memory_order_relaxed);
    set_range(low_, at_known ? known.high.load(std::memory_order_relaxed) : high_ + smallest_page);
  }
  return high_ >= end;
}

bool StackMemory::admit(std::uint64_t address, std::size_t size) {
  if (address >= low_ && address <= high_ && size <= high_ - address) return true;
  if (address > highest || size > smallest_page) return false;
  if (assumed_) { // SP is on another stack, or deeper than before: nothing is known of its page
    assumed_ = false;
    set_range(0, 0);
  }
  const std::uint64_t first = page_of(address), end = page_of(address + size - 1) + smallest_page;
  const bool near = high_ != low_ && first <= high_ + largest_gap && end + largest_gap >= low_;
  if (near && extend(first, end)) return true;
  // Another stack, or other memory.
  for (std::uint64_t page = first; page != end; page += smallest_page)
    if (!readable(page)) return false;
  if (known.contains(address) && known.contains(address + size - 1))
    set_range(known.low.load(std::memory_order_relaxed), known.high.load(std::memory_order_relaxed));
  else
    set_range(first, end);
  return true;
}

void StackMemory::remember() const {
  const std::uint64_t known_high = known.high.load(std::memory_order_relaxed);
  if (known_high != 0) {
    if (high_ == known_high && low_ < known.low.load(std::memory_order_relaxed))
      known.low.store(low_, std::memory_order_relaxed);
    return;
  }
  const auto is_near = [&](std::uint64_t end) {
    return end >= low_ && end <= highest && end < high_ + largest_rest;
  };
  if (!is_near(main_stack_end()) && !is_near(thread_control_block())) return;
  const std::uint64_t end = is_main_thread() ? main_stack_end() : thread_control_block();
  if (!is_near(end)) return;
  StackMemory all = *this;
  if (!all.extend(low_, page_of(end) + smallest_page)) return;
  known.low.store(all.low_, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  known.high.store(all.high_, std::memory_order_relaxed);
}

} // namespace sframe::here
