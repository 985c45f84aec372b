// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress of long work: one line on standard error that is overwritten, "sframe-verify: 120 of 4096
// files".

#pragma once

#include "sframe/tool/messages.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace sframe::tool {

/// Shows nothing for work shorter than a second, with --quiet, or unless standard error is a terminal and
/// standard output, where results appear, is not.
class Progress {
public:
  /// `things` names the items: "files".
  Progress(const Messages& messages, std::size_t total, std::string things);
  /// Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one item as done. Thread-safe.
  void step();

private:
  using Clock = std::chrono::steady_clock;

  const std::string head_;
  const std::string tail_;
  const bool enabled_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  Clock::time_point next_; ///< time of the next update
  bool shown_ = false;
};

} // namespace sframe::tool
