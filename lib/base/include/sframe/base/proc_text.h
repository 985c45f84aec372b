// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts in which Linux describes a process: /proc/PID/maps, /proc/PID/status and /proc/PID/mountinfo
// (proc(5)). They are read of running processes, and minidumps have copies.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// The text of a file of procfs: what there is, if reading fails; empty if there is no such file. One with at
/// most some megabytes is meant: it is read to its end.
std::string read_proc_file(const std::string& path);

/// A line of /proc/PID/maps.
struct MapsLine {
  std::uint64_t start = 0, end = 0, offset = 0; ///< start < end
  std::uint64_t device = 0, inode = 0;
  bool readable = false, writable = false, executable = false;
  std::string_view path; ///< a line feed in it is written as "\012"; may end in " (deleted)"
  std::string_view line; ///< the whole line
  bool is_vdso() const { return path == "[vdso]"; }
};

/// Parses /proc/PID/maps; results point into `text`. Invalid lines are skipped. Linear.
std::vector<MapsLine> parse_maps(std::string_view text);

/// The value after "KEY:\t" in /proc/PID/status; empty without one. Linear.
std::string status_value(std::string_view status, std::string_view key);

/// A line of /proc/PID/mountinfo.
struct Mount {
  std::uint64_t id = 0, parent = 0; ///< `parent`: the mount that this one is on
  std::uint64_t device = 0;         ///< of its files
  std::string point;                ///< where it is mounted, below the root of the process
  std::string_view type;            ///< of the file system: "ext4", "fuse.sshfs"
};

/// Parses /proc/PID/mountinfo; types point into `text`. Invalid lines are skipped. Linear.
std::vector<Mount> parse_mounts(std::string_view text);

} // namespace sframe

#pragma GCC visibility pop
