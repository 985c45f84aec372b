// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "earlier_waits.h"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// Threads for which the program runs at once: their stacks are a third of the ring buffer.
constexpr std::size_t at_once = 64;

} // namespace

struct EarlierWaits::Shared {
  bpf::FileDescriptor iterator{-1}, event{-1};
  std::mutex lock; ///< of what follows
  std::condition_variable changed;
  bool may_go_on = false, is_over = false, is_left = false;
};

EarlierWaits::~EarlierWaits() {
  if (!shared_) return;
  const std::lock_guard guard(shared_->lock);
  shared_->is_left = true;
  shared_->changed.notify_all();
}

Result<void> EarlierWaits::start(bpf::FileDescriptor iterator) {
  auto shared = std::make_shared<Shared>();
  shared->iterator = std::move(iterator);
  shared->event = bpf::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (shared->event.number() < 0) return fail(std::strerror(errno));
  try {
    std::thread([shared] { read(shared); }).detach();
  } catch (const std::system_error& error) {
    return fail(error.what());
  }
  shared_ = std::move(shared);
  return {};
}

void EarlierWaits::read(const std::shared_ptr<Shared>& shared) {
  std::array<std::uint32_t, at_once> threads{}; // the program writes the number of each
  for (;;) {
    const ssize_t size = ::read(shared->iterator.number(), threads.data(), sizeof threads);
    // EAGAIN: of a million threads none was written.
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    std::unique_lock guard(shared->lock);
    shared->is_over = size <= 0;
    shared->may_go_on = false;
    (void)::eventfd_write(shared->event.number(), 1);
    shared->changed.wait(guard, [&] { return shared->is_over || shared->may_go_on || shared->is_left; });
    if (shared->is_over || shared->is_left) return;
  }
}

int EarlierWaits::event() const {
  return shared_ ? shared_->event.number() : -1;
}

bool EarlierWaits::take_event() {
  std::uint64_t count = 0;
  return shared_ && ::eventfd_read(shared_->event.number(), &count) == 0;
}

void EarlierWaits::go_on() {
  const std::lock_guard guard(shared_->lock);
  shared_->may_go_on = true;
  shared_->changed.notify_all();
}

bool EarlierWaits::is_over() const {
  if (!shared_) return true;
  const std::lock_guard guard(shared_->lock);
  return shared_->is_over;
}

} // namespace sframe::profile_tool
