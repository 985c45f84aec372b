// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What samples of stopped threads count for. A thread that is ready may have no processor, and one that waits
// may have worked just before: so samples are not counted as they are taken. A sample of a thread counts for
// the time that the kernel says it has used, or waited, since the last one.

#pragma once

#include "event.h"

#include "sframe/process/live_process.h"

#include <cstdint>
#include <map>
#include <span>

namespace sframe::profile_tool {

class ThreadShares {
public:
  /// `period`: nanoseconds of processor time for which a sample of `cpu` counts.
  ThreadShares(Event::Kind kind, std::uint64_t period) : kind_(kind), period_(period) {}

  /// The threads that a sample is due of, by tid, and its weight: periods of used time (cpu), or nanoseconds
  /// in which the thread waited (off_cpu), or that have passed (wall). `time`: CLOCK_MONOTONIC; `used`: the
  /// processor time of the process, with that of threads that have ended; both in nanoseconds. The first look
  /// sets a start.
  std::map<std::uint32_t, std::uint64_t> look(std::span<const process::ThreadActivity> threads,
                                              std::uint64_t time, std::uint64_t used);

  /// Of the last look: what was not sampled, since the threads have ended meanwhile or do not stop.
  void give_back(const std::map<std::uint32_t, std::uint64_t>& weights);

  /// What no sample counts for at the end, since the threads were never ready at a look (cpu), or never
  /// waited (off_cpu): in the same units, below 1 rounded. `process`: the thread for what ended threads have
  /// used.
  std::map<std::uint32_t, std::uint64_t> rest(std::uint32_t process) const;

private:
  struct Thread {
    std::uint64_t used = 0, delayed = 0; ///< by the kernel, when it was last looked at
    std::uint64_t owed = 0;              ///< nanoseconds that no sample counts for yet
  };
  std::uint64_t due(const process::ThreadActivity& now, Thread& thread, std::uint64_t passed,
                    bool is_counted) const;
  std::map<std::uint32_t, Thread> take(std::span<const process::ThreadActivity> threads, bool is_used);

  Event::Kind kind_;
  std::uint64_t period_, last_ = 0, last_used_ = 0;
  /// Used by threads that have ended, for which no sample counts yet. Below 0 for a moment: times are not
  /// read at once.
  std::int64_t ended_ = 0;
  std::map<std::uint32_t, Thread> threads_;
};

} // namespace sframe::profile_tool
