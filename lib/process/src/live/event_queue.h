// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: events on their way from the tracing thread to the program, and the descriptor that tells of them.

#pragma once

#include "sframe/process/process_monitor.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace sframe::process::live {

/// For any number of threads at both ends; none ever waits for another for long.
class EventQueue {
public:
  EventQueue();
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Readable where there are events, or where ring() was called, since the last take(); -1: the system had
  /// none left.
  int fd() const { return fd_; }
  /// Adds an event, or counts it where nobody has taken the last `capacity`.
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
