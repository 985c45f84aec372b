// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/progress.h"

#include <unistd.h>

namespace sframe::tool {

namespace {

constexpr std::chrono::milliseconds first_after{1000}, again_after{100};

/// If standard error is closed, there is no way to report that.
void write(const std::string& text) {
  [[maybe_unused]] const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

Progress::Progress(const Messages& messages, std::size_t total, std::string things)
    : head_(messages.tool() + ": "), tail_(" of " + std::to_string(total) + " " + std::move(things)),
      enabled_(!messages.quiet() && ::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) != 1),
      next_(Clock::now() + first_after) {}

Progress::~Progress() {
  if (shown_) write("\033[K");
}

void Progress::step() {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  ++done_;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + again_after;
  shown_ = true;
  // Returns the cursor to the line's start, so that a message overwrites the line.
  write(head_ + std::to_string(done_) + tail_ + "\033[K\r");
}

} // namespace sframe::tool
