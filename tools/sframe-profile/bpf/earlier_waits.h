// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that are off their CPUs when a recording begins: the BPF program on_waiting is run for all threads,
// by reading its iterator. It reads the memory of other processes, for which it may have to wait, and no
// signal ends that; so a child does it, without which this process can end. It does some threads at a time,
// so that the ring buffers have room for their stacks. If it waits for too long, another child is started,
// which skips that process.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/bpf/mapped_file.h"

#include <chrono>
#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace sframe::profile_tool {

class EarlierWaits {
public:
  EarlierWaits() = default;
  ~EarlierWaits();
  EarlierWaits(const EarlierWaits&) = delete;
  EarlierWaits& operator=(const EarlierWaits&) = delete;

  /// Begins to look for them, or goes on with another iterator.
  Result<void> start(bpf::FileDescriptor iterator);
  /// Becomes readable when the records of some of them are there, or of all; -1 before start().
  int event() const;
  /// Whether it has; then it has to go on when these are taken.
  bool take_event();
  void go_on();
  /// Whether nothing more comes, but from those that are stuck.
  bool is_over() const;
  /// Whether it has waited for a second for the memory of a process, and may be started again.
  bool is_stuck() const;
  /// How many searches still wait for the memory of a process.
  std::uint64_t num_stuck() const;
  /// Processor time of searches that are over.
  std::chrono::nanoseconds used_time() const { return used_time_; }

private:
  struct Search {
    pid_t child;
    bpf::FileDescriptor orders; ///< a byte lets it go on
    bool waits = false, is_over = false;
  };

  std::vector<Search> searches_; ///< the last one goes on
  /// For bytes of all: twice the number of the search, and 1 if it is over.
  bpf::FileDescriptor reports_{-1}, reports_end_{-1};
  std::chrono::steady_clock::time_point last_{}; ///< when it went on
  std::chrono::nanoseconds used_time_{0};
};

} // namespace sframe::profile_tool
