// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "thread_shares.h"

#include <algorithm>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// Nanoseconds. A stop makes a thread that waits ready for a moment, as its system call is restarted: this is
/// not the program's work.
constexpr std::uint64_t longest_restart = 50'000;

std::uint64_t difference(std::uint64_t now, std::uint64_t before) {
  return now - std::min(now, before);
}

} // namespace

/// Adds the time since the last look, and takes what a sample counts for in the thread's state.
std::uint64_t ThreadShares::due(const process::ThreadActivity& now, Thread& thread, std::uint64_t passed,
                                bool is_counted) const {
  const std::uint64_t used = difference(now.used, thread.used);
  switch (kind_) {
  case Event::Kind::wall: return passed;
  case Event::Kind::off_cpu: {
    const std::uint64_t busy = used + difference(now.delayed, thread.delayed);
    thread.owed += is_counted ? difference(passed, busy) : now.is_ready ? 0 : passed;
    return now.is_ready ? 0 : std::exchange(thread.owed, 0);
  }
  default: break;
  }
  if (used > longest_restart) thread.owed += used;
  if (!is_counted) thread.owed += now.is_ready ? passed : 0;
  if (!now.is_ready) return 0;
  const std::uint64_t periods = thread.owed / period_;
  thread.owed -= periods * period_;
  return periods;
}

std::map<std::uint32_t, std::uint64_t> ThreadShares::look(std::span<const process::ThreadActivity> threads,
                                                          std::uint64_t time) {
  std::map<std::uint32_t, std::uint64_t> all;
  std::map<std::uint32_t, Thread> seen;
  const bool is_first = last_ == 0;
  const std::uint64_t passed = is_first ? 0 : difference(time, last_);
  // By the kernel; not all kernels do. A single thread may just not have worked yet.
  const bool is_counted =
      std::ranges::any_of(threads, [](const process::ThreadActivity& thread) { return thread.used != 0; });
  for (const process::ThreadActivity& now : threads) {
    const auto known = threads_.find(now.tid);
    Thread thread = known == threads_.end() ? Thread() : known->second;
    const std::uint64_t weight = is_first ? 0 : due(now, thread, passed, is_counted);
    if (weight != 0) all.emplace(now.tid, weight);
    seen.emplace(now.tid, Thread{now.used, now.delayed, thread.owed});
  }
  threads_ = std::move(seen);
  last_ = time;
  return all;
}

} // namespace sframe::profile_tool
