// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "earlier_waits.h"

#include "record.h"

#include "sframe/base/processor_time.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Threads for which the program runs at once: their stacks are a third of the ring buffer.
constexpr std::size_t at_once = 64;
constexpr std::chrono::seconds longest_read{1}; ///< of these, before another one goes on

/// All others are closed: nobody must wait for the end of what this process may outlive.
void keep_only(std::array<int, 3> files) {
  std::ranges::sort(files);
  unsigned first = 0;
  for (const int file : files) {
    const auto number = static_cast<unsigned>(file);
    if (number > first) ::syscall(SYS_close_range, first, number - 1, 0);
    first = number + 1;
  }
  ::syscall(SYS_close_range, first, ~0U, 0);
}

/// The child. Only calls that are allowed after fork() of a process with threads.
[[noreturn]] void search(int iterator, int reports, int orders, std::uint8_t number) {
  keep_only({iterator, reports, orders});
  std::array<std::uint32_t, at_once> threads{}; // the program writes the number of each
  for (;;) {
    const ssize_t size = ::read(iterator, threads.data(), sizeof threads);
    // EAGAIN: of a million threads none was written.
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    const auto report = static_cast<std::uint8_t>(number << 1 | (size <= 0));
    std::uint8_t order = 0;
    if (::write(reports, &report, 1) != 1 || size <= 0 || ::read(orders, &order, 1) != 1) ::_exit(0);
  }
}

} // namespace

EarlierWaits::~EarlierWaits() {
  for (const Search& one : searches_) {
    if (one.is_over) continue;
    ::kill(one.child, SIGKILL);
    ::waitpid(one.child, nullptr, WNOHANG); // one that waits for memory does not end now
  }
}

Result<void> EarlierWaits::start(bpf::FileDescriptor iterator) {
  int ends[2];
  if (reports_.number() < 0) {
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(std::strerror(errno));
    reports_ = bpf::FileDescriptor(ends[0]);
    reports_end_ = bpf::FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail(std::strerror(errno));
  bpf::FileDescriptor orders(ends[0]);
  const bpf::FileDescriptor orders_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(std::strerror(errno));
  if (child == 0)
    search(iterator.number(), reports_end_.number(), ends[1], static_cast<std::uint8_t>(searches_.size()));
  searches_.push_back({child, std::move(orders)});
  last_ = Clock::now();
  return {};
}

int EarlierWaits::event() const {
  return reports_.number();
}

bool EarlierWaits::take_event() {
  bool has_any = false;
  std::uint8_t report = 0;
  while (reports_.number() >= 0 && ::read(reports_.number(), &report, 1) == 1) {
    Search& from = searches_[report >> 1];
    (report & 1 ? from.is_over : from.waits) = true;
    rusage usage{};
    if (from.is_over && ::wait4(from.child, nullptr, 0, &usage) == from.child) // it does nothing more
      used_time_ += processor_time(usage);
    has_any = true;
  }
  return has_any;
}

void EarlierWaits::go_on() {
  last_ = Clock::now();
  for (Search& one : searches_)
    if (std::exchange(one.waits, false)) ::send(one.orders.number(), "", 1, MSG_NOSIGNAL);
}

bool EarlierWaits::is_over() const {
  return searches_.empty() || searches_.back().is_over;
}

bool EarlierWaits::is_stuck() const {
  return !is_over() && searches_.size() < RECORD_SEARCHES && Clock::now() - last_ > longest_read;
}

std::uint64_t EarlierWaits::num_stuck() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(searches_, [](const Search& one) { return !one.is_over && !one.waits; }));
}

} // namespace sframe::profile_tool
