// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace sframe::process::live {

EventQueue::EventQueue() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

EventQueue::~EventQueue() {
  if (fd_ >= 0) ::close(fd_);
}

void EventQueue::push(DebugEvent event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() == capacity) {
    ++lost_;
    return;
  }
  events_.push_back(std::move(event));
  if (events_.size() == 1) ring();
}

void EventQueue::ring() {
  ::eventfd_write(fd_, 1);
}

std::vector<DebugEvent> EventQueue::take() {
  const std::lock_guard lock(mutex_);
  eventfd_t rung;
  ::eventfd_read(fd_, &rung);
  std::vector<DebugEvent> events = std::exchange(events_, {});
  if (const std::uint64_t lost = std::exchange(lost_, 0))
    events.push_back({.kind = DebugEvent::Kind::lost, .count = lost});
  return events;
}

} // namespace sframe::process::live
