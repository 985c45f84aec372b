// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages on standard error. Each is formatted first and written at once, so that lines of several threads
// do not mix.

#include "sframe/tool/messages.h"

#include "sframe/base/printable.h"
#include "sframe/tool/output.h"

#include <cstdlib>
#include <unistd.h>

namespace sframe::tool {

bool use_color(ColorMode mode, int fd) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if ((no_color && *no_color) || (terminal && std::string_view(terminal) == "dumb")) return false;
  return ::isatty(fd) == 1;
}

void Messages::set_color(ColorMode mode) {
  color_ = use_color(mode, STDERR_FILENO);
}

void Messages::error(std::string_view file, std::string_view what) {
  ++errors_;
  print("error", "\033[1;31m", file, what);
}

void Messages::warning(std::string_view file, std::string_view what) {
  if (!quiet_) print("warning", "\033[1;35m", file, what);
}

void Messages::note(std::string_view file, std::string_view what) {
  if (!quiet_) print("note", "\033[1;36m", file, what);
}

void Messages::detail(std::string_view file, std::string_view what) {
  if (verbose_) print("note", "\033[1;36m", file, what);
}

void Messages::print(std::string_view kind, std::string_view color, std::string_view file,
                     std::string_view what) {
  std::string text = " ";
  if (!file.empty()) {
    append_printable(text, file);
    text += ": ";
  }
  append_printable(text, what);
  text += '\n';
  std::string line = tool_ + ": ";
  if (color_) line += color;
  line.append(kind).append(":");
  if (color_) line += "\033[0m";
  line += text;
  std::lock_guard lock(mutex_);
  if (copy_ && kind == "error") copy_->append(tool_ + ": error:" + text);
  if (before_) before_();
  const auto terminal = status_.suspend();
  // If standard error is closed, there is no way to report that.
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t done = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (done <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
}

} // namespace sframe::tool
