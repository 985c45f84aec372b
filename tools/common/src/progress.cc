// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/progress.h"

#include "sframe/base/parallel.h"
#include "sframe/tool/status_line.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace sframe::tool {

namespace {

constexpr std::chrono::milliseconds first_after{1000}, again_after{200};

/// With one decimal place.
std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", bytes / 1e6);
  return text;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

} // namespace

Progress::Progress(Messages& messages, std::size_t items, std::string things)
    : messages_(messages), things_(std::move(things)),
      enabled_(!messages.quiet() && ::isatty(STDERR_FILENO) == 1), items_(items) {
  if (enabled_) // without a thread, the work continues without a line
    painter_ = try_thread<std::jthread>([this](const std::stop_token& stop) { show_repeatedly(stop); });
}

Progress::~Progress() {
  painter_ = {};
  (void)messages_.status().suspend();
}

double Progress::size_of(const std::string& path) const {
  std::error_code error;
  const auto size = enabled_ ? std::filesystem::file_size(path, error) : 0;
  return error ? 0 : static_cast<double>(size);
}

void Progress::expect(double bytes, std::size_t items) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  items_ += items;
}

void Progress::step(double bytes) {
  const std::lock_guard lock(mutex_);
  ++done_items_;
  done_bytes_ += bytes;
}

void Progress::add(double bytes, double& left) {
  const std::lock_guard lock(mutex_);
  bytes = std::min(bytes, left);
  left -= bytes;
  done_bytes_ += bytes;
}

void Progress::show_repeatedly(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (auto next = start_ + first_after;; next = Clock::now() + again_after) {
    wake_.wait_until(lock, stop, next, [] { return false; });
    if (stop.stop_requested()) return;
    const std::string text = line();
    lock.unlock(); // the terminal may be slow
    messages_.status().show(text);
    lock.lock();
  }
}

/// Call with the mutex locked.
std::string Progress::line() const {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  std::string text =
      messages_.tool() + ": " + std::to_string(done_items_) + " of " + std::to_string(items_) + " " + things_;
  // Files may grow, or turn out to be larger than expected.
  const double all = std::max(bytes_, done_bytes_);
  double share = items_ == 0 ? 0 : static_cast<double>(done_items_) / static_cast<double>(items_);
  if (all != 0) {
    share = done_bytes_ / all;
    text += ", " + megabytes(done_bytes_) + " of " + megabytes(all) + " MB, " +
            megabytes(done_bytes_ / elapsed.count()) + " MB/s";
  }
  if (share > 0) text += ", " + time_text(elapsed.count() * (1 - share) / share) + " left";
  return text;
}

} // namespace sframe::tool
