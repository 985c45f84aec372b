// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a Recording: stores equal values once, and stops when it is full.
//
//   RecordingBuilder builder(budget);
//   const auto process = builder.process(4711, "server");
//   const auto thread = builder.thread(4712, process, "worker");
//   const auto file = builder.file({.path = "/usr/bin/server", .build_id = id, .process = process});
//   const std::uint32_t locations[] = {builder.location({.file = file, .address = 0x1139})};
//   builder.sample({.time = now, .thread = thread, .stack = builder.stack(locations, builder.end({true,
//   {}}))}); Recording recording = std::move(builder).finish();

#pragma once

#include "sframe/base/budget.h"
#include "sframe/profile/recording.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sframe::profile {

class RecordingBuilder {
public:
  /// Bytes that a recording may have, if nothing else is wanted.
  static constexpr std::uint64_t default_max_bytes = std::uint64_t{1} << 30;

  /// `max_bytes`: of all that is stored. Once that is reached, sample() counts samples as lost. `budget`, of
  /// the input that the samples are from, pays for texts (Resource::name_bytes) and for the locations of
  /// stacks (Resource::frames); it must outlive the object. nullptr: only `max_bytes` limits.
  explicit RecordingBuilder(Budget* budget = nullptr, std::uint64_t max_bytes = default_max_bytes);
  ~RecordingBuilder();
  RecordingBuilder(RecordingBuilder&&) noexcept;
  RecordingBuilder& operator=(RecordingBuilder&&) noexcept;

  // Each returns the index of the value that equals this one, in constant time but for its size; `none` if it
  // is new and there is no room.
  /// The mapping (start, end) is that of the first file that is equal otherwise. The process does not matter
  /// for files with a build ID.
  std::uint32_t file(const File& file);
  std::uint32_t name(std::string_view name);
  std::uint32_t location(const Location& location);
  std::uint32_t end(const End& end);
  /// `locations` innermost first. `none` among them is left out, and so is nothing else.
  std::uint32_t stack(std::span<const std::uint32_t> locations, std::uint32_t end);
  /// A PID that is used again, and a process or thread that has got another name, are others.
  std::uint32_t process(std::uint32_t pid, std::string_view name);
  std::uint32_t thread(std::uint32_t tid, std::uint32_t process, std::string_view name);

  /// Adds a sample, in any order of time. One without a stack is counted as lost.
  void sample(const Sample& sample);
  /// Adds to the samples that are missing for this cause.
  void lose(std::string_view cause, std::uint64_t count = 1);

  /// True if something was not stored.
  bool is_full() const;
  std::size_t samples() const;
  /// What has no index can be set here: event, unit, period, times, command, own cost.
  Recording& recording();

  /// The recording, its samples sorted by time. The object is not used afterwards.
  Recording finish() &&;

private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

} // namespace sframe::profile
