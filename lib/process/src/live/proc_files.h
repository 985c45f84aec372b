// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what /proc tells of a process (proc(5)).

#pragma once

#include "sframe/abi.h"
#include "sframe/base/problem.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::process::live {

/// "/proc/PID/NAME".
std::string proc_path(std::uint32_t pid, std::string_view name);

/// The whole file; empty where it cannot be read.
std::string read_proc(std::uint32_t pid, std::string_view name);

/// Bytes of memory that the process has now; 0 where it is gone.
std::uint64_t resident_bytes(std::uint32_t pid);

/// The process's threads, by tid; empty where it is gone.
std::vector<std::uint32_t> list_threads(std::uint32_t pid);

/// True where the thread is gone, or has ended and only waits to be taken notice of.
bool has_ended(std::uint32_t pid, std::uint32_t tid);

/// A thread of the process through which /proc and process_vm_readv(2) reach its memory: the leader, or
/// another one where that has ended before them.
std::uint32_t living_thread(std::uint32_t pid);

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
  std::string_view line; ///< as a whole
  bool is_vdso() const { return path == "[vdso]"; }
};

/// The lines of /proc/PID/maps taken apart; they point into `text`. What is no line of it is left out.
std::vector<MapsLine> parse_maps(std::string_view text);

/// The images among mappings (MapsLine or what derives from it): runs of one file, with rising offsets, or
/// the vdso; anonymous mappings between them (.bss, gaps) do not matter. Runs without code are none.
template <class Line> std::vector<std::span<Line>> find_images(std::span<Line> mappings) {
  std::vector<std::span<Line>> images;
  for (auto first = mappings.begin(), behind = first; first != mappings.end(); first = behind) {
    auto last = first;
    for (auto next = first + 1; next != mappings.end(); ++next) {
      if (next->inode == 0 && next->path.empty()) continue;
      if (next->inode != first->inode || next->device != first->device) break;
      if (next->offset < last->offset || next->offset == 0) break; // the same file, mapped once more
      last = next;
    }
    behind = last + 1;
    const std::span<Line> image(first, behind);
    if ((first->inode || first->is_vdso()) && std::ranges::any_of(image, &Line::executable))
      images.push_back(image);
  }
  return images;
}

/// Why a process cannot be traced, as far as it can be told beforehand: no such process, a thread of another
/// one, a zombie, a kernel thread, ourselves, traced by somebody else.
std::optional<Problem> find_obstacle(std::uint32_t pid);

/// Why the kernel refused, with `error` (an errno).
Problem explain_refusal(std::uint32_t pid, int error);

/// Why a thread that was asked to stop has not, in words.
std::string explain_unstopped(std::uint32_t pid, std::uint32_t tid);

} // namespace sframe::process::live
