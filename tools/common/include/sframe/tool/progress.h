// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far long work is: one line on standard error that is written over, "sframe-verify: 120 of 4096 files".

#pragma once

#include "sframe/tool/messages.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace sframe::tool {

/// Shows nothing for work below a second, with --quiet, and unless standard error is a terminal and standard
/// output, where results appear, is not.
class Progress {
public:
  /// `things` is what is counted: "files".
  Progress(const Messages& messages, std::size_t total, std::string things);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more is done. May be called from any thread.
  void step();

private:
  using Clock = std::chrono::steady_clock;

  const std::string head_;
  const std::string tail_;
  const bool enabled_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  Clock::time_point next_; ///< when the line is written again
  bool shown_ = false;
};

} // namespace sframe::tool
