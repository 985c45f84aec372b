// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "sframe/profile/recording.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sframe::profile {

struct ThreadSamples {
  std::uint32_t thread = none;        ///< `none`: those without one
  std::vector<const Sample*> samples; ///< by time
  std::uint64_t weight = 0;
};

/// The samples of each thread, those with the most first.
inline std::vector<ThreadSamples> samples_by_thread(const Recording& recording) {
  std::map<std::uint32_t, ThreadSamples> by_thread;
  for (const Sample& sample : recording.samples) {
    ThreadSamples& of = by_thread[sample.thread];
    of.thread = sample.thread;
    of.samples.push_back(&sample);
    of.weight += sample.weight;
  }
  std::vector<ThreadSamples> all;
  for (auto& [thread, of] : by_thread) all.push_back(std::move(of));
  std::ranges::stable_sort(all, std::greater(), &ThreadSamples::weight);
  return all;
}

/// "worker (4712)"; "unknown thread" for `none`.
inline std::string thread_title(const Recording& recording, std::uint32_t index) {
  if (index == none) return "unknown thread";
  const Thread& thread = recording.threads[index];
  return thread.name + " (" + std::to_string(thread.tid) + ")";
}

/// The PID of the thread's process; 0: not known.
inline std::uint32_t pid_of(const Recording& recording, std::uint32_t index) {
  if (index == none || recording.threads[index].process == none) return 0;
  return recording.processes[recording.threads[index].process].pid;
}

} // namespace sframe::profile
