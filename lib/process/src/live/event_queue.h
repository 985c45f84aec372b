// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the queue of events from the tracing thread to the program, and its notification descriptor.

#pragma once

#include "sframe/process/process_monitor.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace sframe::process::live {

/// For any number of producers and consumers; none blocks another for long.
class EventQueue {
public:
  EventQueue();
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Readable if events were added, or ring() was called, since the last take(); -1: the system had no
  /// descriptor left.
  int fd() const { return fd_; }
  /// Adds an event, or counts it as lost if `capacity` events are queued.
  void push(DebugEvent event);
  /// Makes the descriptor readable.
  void ring();
  std::vector<DebugEvent> take();

private:
  static constexpr std::size_t capacity = 16384;

  int fd_;
  std::mutex mutex_;
  std::vector<DebugEvent> events_;
  std::uint64_t lost_ = 0;
};

} // namespace sframe::process::live
