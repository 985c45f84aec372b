// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that are off their CPUs when a recording begins: the BPF program on_waiting is run for all threads,
// by reading its iterator. It reads the memory of other processes, for which it may have to wait, so a thread
// does that; and some threads at a time, so that the ring buffers have room for their stacks.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/bpf/mapped_file.h"

#include <memory>

namespace sframe::profile_tool {

class EarlierWaits {
public:
  EarlierWaits() = default;
  ~EarlierWaits();
  EarlierWaits(const EarlierWaits&) = delete;
  EarlierWaits& operator=(const EarlierWaits&) = delete;

  /// Begins to look for them.
  Result<void> start(bpf::FileDescriptor iterator);
  /// Becomes readable when the records of some of them are there, or of all; -1 before start().
  int event() const;
  /// Whether it has; then it has to go on when these are taken.
  bool take_event();
  void go_on();
  /// Whether nothing more comes.
  bool is_over() const;

private:
  struct Shared;
  static void read(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared>
      shared_; ///< with the thread, which outlives this if it waits for a process's memory
};

} // namespace sframe::profile_tool
