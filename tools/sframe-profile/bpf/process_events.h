// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel reports of all processes (perf_event_open(2)): mappings with code, names, programs
// executed, processes started and ended; by the monotonic time, as samples have it.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sframe::profile_tool {

struct ProcessEvent {
  enum class Kind : std::uint8_t { mapping, name, program, started, ended };
  Kind kind = Kind::mapping;
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t parent = 0; ///< of `started`: the process that started it
  std::uint64_t time = 0;   ///< CLOCK_MONOTONIC, nanoseconds
  std::string text;         ///< the path, or the name
  // Of `mapping`:
  std::uint64_t start = 0, size = 0, offset = 0;
  std::uint64_t device = 0, inode = 0;
};

class ProcessEvents {
public:
  ProcessEvents() = default;
  ~ProcessEvents();
  ProcessEvents(const ProcessEvents&) = delete;
  ProcessEvents& operator=(const ProcessEvents&) = delete;

  /// Begins.
  Result<void> open();
  /// Appends what has happened since the last call, in the order of time of each processor.
  void take(std::vector<ProcessEvent>& events);
  /// Events that the kernel had no room for.
  std::uint64_t lost() const { return lost_; }
  /// Of its memory.
  std::uint64_t bytes() const;

private:
  struct Ring {
    int event = -1;
    void* memory = nullptr;
    std::uint64_t read = 0; ///< bytes
  };
  void take(Ring& ring, std::vector<ProcessEvent>& events);

  std::vector<Ring> rings_;
  std::vector<std::byte> record_;
  std::uint64_t lost_ = 0;
};

} // namespace sframe::profile_tool
