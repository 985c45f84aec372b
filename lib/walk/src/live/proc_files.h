// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what /proc tells of a process (proc(5)).

#pragma once

#include "sframe/elf/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::walk::live {

/// "/proc/PID/NAME".
std::string proc_path(std::uint32_t pid, std::string_view name);

/// The whole file; empty where it cannot be read.
std::string read_proc(std::uint32_t pid, std::string_view name);

/// The process's threads, by tid; empty where it is gone.
std::vector<std::uint32_t> list_threads(std::uint32_t pid);

/// A thread's name (comm).
std::string thread_name(std::uint32_t pid, std::uint32_t tid);

/// The value behind "KEY:\t" in /proc/PID/status; empty without one.
std::string status_value(std::string_view status, std::string_view key);

/// A line of /proc/PID/maps.
struct MapsLine {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::uint64_t device = 0, inode = 0;
  bool writable = false, executable = false;
  std::string_view path;
};

/// The line taken apart, or nothing where it is none.
std::optional<MapsLine> parse_maps_line(std::string_view line);

/// Why a process cannot be traced, as far as it can be told beforehand: no such process, a thread of another
/// one, a zombie, a kernel thread, ourselves, traced by somebody else.
std::optional<elf::Problem> find_obstacle(std::uint32_t pid);

/// Why the kernel refused, with `error` (an errno).
elf::Problem explain_refusal(std::uint32_t pid, int error);

} // namespace sframe::walk::live
