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

/// The threads that there are now. What the process has used since the last look (`is_used`: ended_ has it),
/// and none of these, was used by some that have ended. The next sample counts for it: of the last thread
/// that is ready, which is likely to do the same.
std::map<std::uint32_t, ThreadShares::Thread>
ThreadShares::take(std::span<const process::ThreadActivity> threads, bool is_used) {
  std::map<std::uint32_t, Thread> taken;
  for (const process::ThreadActivity& now : threads) {
    auto known = threads_.extract(now.tid);
    const Thread& thread = known ? taken.insert(taken.end(), std::move(known))->second : taken[now.tid];
    if (is_used) ended_ -= static_cast<std::int64_t>(difference(now.used, thread.used));
  }
  if (is_used)
    for (const auto& [tid, thread] : threads_) ended_ += static_cast<std::int64_t>(thread.owed);
  return taken;
}

std::map<std::uint32_t, std::uint64_t> ThreadShares::look(std::span<const process::ThreadActivity> threads,
                                                          std::uint64_t time, std::uint64_t used) {
  std::map<std::uint32_t, std::uint64_t> all;
  if (threads.empty()) return all; // it has ended
  const bool is_first = last_ == 0;
  const std::uint64_t passed = is_first ? 0 : difference(time, last_);
  // By the kernel; not all kernels do. A single thread may just not have worked yet.
  const bool is_counted =
      std::ranges::any_of(threads, [](const process::ThreadActivity& thread) { return thread.used != 0; });
  const bool is_used = !is_first && is_counted && kind_ == Event::Kind::cpu;
  if (is_used) ended_ += static_cast<std::int64_t>(difference(used, last_used_));
  threads_ = take(threads, is_used);
  const auto ready =
      std::find_if(threads.rbegin(), threads.rend(), [](const auto& one) { return one.is_ready; });
  auto at = threads_.begin();
  for (const process::ThreadActivity& now : threads) {
    Thread& thread = (at++)->second;
    const bool is_last_ready = ready != threads.rend() && ready->tid == now.tid;
    if (is_last_ready && ended_ > 0) thread.owed += static_cast<std::uint64_t>(std::exchange(ended_, 0));
    const std::uint64_t weight = is_first ? 0 : due(now, thread, passed, is_counted);
    if (weight != 0) all.emplace(now.tid, weight);
    thread.used = now.used;
    thread.delayed = now.delayed;
  }
  last_ = time;
  last_used_ = std::max(last_used_, used);
  return all;
}

void ThreadShares::give_back(const std::map<std::uint32_t, std::uint64_t>& weights) {
  if (kind_ == Event::Kind::wall) return;
  for (const auto& [tid, weight] : weights)
    if (const auto thread = threads_.find(tid); thread != threads_.end())
      thread->second.owed += kind_ == Event::Kind::cpu ? weight * period_ : weight;
}

std::map<std::uint32_t, std::uint64_t> ThreadShares::rest(std::uint32_t process) const {
  std::map<std::uint32_t, std::uint64_t> all;
  if (kind_ == Event::Kind::wall) return all;
  for (const auto& [tid, thread] : threads_) all[tid] = thread.owed;
  all[process] += static_cast<std::uint64_t>(std::max<std::int64_t>(ended_, 0));
  for (auto& [tid, weight] : all)
    if (kind_ == Event::Kind::cpu) weight = (weight + period_ / 2) / period_;
  std::erase_if(all, [](const auto& one) { return one.second == 0; });
  return all;
}

} // namespace sframe::profile_tool
