// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line on the terminal that shows how far long work is, by items and bytes:
//
//    sframe-verify: 12 of 300 files, 51.2 of 1204.0 MB, 85.1 MB/s, 14 s left
//
//    Progress progress(messages, paths.size(), "files");
//    for (path : paths) progress.expect(progress.size_of(path));       // before or during the work
//    ... then for each, on any thread:
//    Progress::Item item(progress, progress.size_of(path));
//    for (function : functions) { ...; item.add(item.size() / functions.size()); }

#pragma once

#include "sframe/tool/messages.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace sframe::tool {

/// Shows nothing for work shorter than a second, with --quiet, or unless standard error is a terminal.
/// Thread-safe.
class Progress {
public:
  /// `things` names the items: "files". `items` may be raised later.
  Progress(Messages& messages, std::size_t items, std::string things);
  /// Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The size of a file; 0 if it is unknown, or if nothing will be shown.
  double size_of(const std::string& path) const;

  /// Adds to the bytes of all items, and to their number.
  void expect(double bytes, std::size_t items = 0);

  /// Counts one item as done, and bytes that no Item counted.
  void step(double bytes = 0);

  /// One item, from the start of its work to the destructor.
  class Item {
  public:
    Item(Progress& progress, double bytes) : progress_(progress), size_(bytes), left_(bytes) {}
    /// Counts the item, and the rest of its bytes.
    ~Item() { progress_.step(left_); }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;

    double size() const { return size_; }
    /// Counts bytes of the item as done, up to its size. Thread-safe.
    void add(double bytes) {
      if (progress_.enabled_) progress_.add(bytes, left_);
    }

  private:
    Progress& progress_;
    const double size_;
    double left_; ///< guarded by Progress::mutex_
  };

private:
  using Clock = std::chrono::steady_clock;

  void add(double bytes, double& left);
  void show_repeatedly(const std::stop_token& stop);
  std::string line() const;

  Messages& messages_;
  const std::string things_;
  const bool enabled_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_; ///< guards the numbers
  std::size_t items_ = 0, done_items_ = 0;
  double bytes_ = 0, done_bytes_ = 0; ///< parts of an item may be fractions
  std::condition_variable_any wake_;
  std::jthread painter_; ///< updates the line also during a long item
};

} // namespace sframe::tool
