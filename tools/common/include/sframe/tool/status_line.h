// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line on the terminal that is not part of the output: messages and results erase it.

#pragma once

#include <mutex>
#include <string>

namespace sframe::tool {

/// The last line of standard error's terminal. Thread-safe.
class StatusLine {
public:
  /// Replaces the line, cut to the terminal's width. Does nothing while results on the same terminal are
  /// within a line.
  void show(const std::string& text);

  /// Erases the line. Other text may be written while the lock is held.
  std::unique_lock<std::mutex> suspend();

  /// Results on the same terminal end inside a line (or no longer do). Call with the lock of suspend().
  void set_inside_line(bool inside) { inside_line_ = inside; }

private:
  std::mutex mutex_;
  bool shown_ = false;
  bool inside_line_ = false;
};

} // namespace sframe::tool
