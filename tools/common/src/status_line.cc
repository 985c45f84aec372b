// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/status_line.h"

#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sframe::tool {

namespace {

/// If standard error is closed, there is no way to report that.
void write(std::string_view text) {
  [[maybe_unused]] const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
}

std::size_t terminal_width() {
  struct winsize size {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

} // namespace

void StatusLine::show(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (inside_line_) return;
  shown_ = true;
  // A longer line would wrap, and only its last part could be erased. The cursor returns to the start, so
  // that the next text replaces the line even if the program is killed.
  write(text.substr(0, terminal_width() - 1) + "\033[K\r");
}

std::unique_lock<std::mutex> StatusLine::suspend() {
  std::unique_lock lock(mutex_);
  if (shown_) write("\033[K");
  shown_ = false;
  return lock;
}

} // namespace sframe::tool
