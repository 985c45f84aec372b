// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: breakpoint instructions in the memory of traced processes, of this machine.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace sframe::process::live {

class Breakpoints {
public:
  /// Whether there are any on this machine.
  static bool are_supported();

  /// Writes one, unless there is one already, or nothing can be written at `address` (yet).
  void insert(std::uint32_t pid, std::uint64_t address);
  /// `child` is a copy of `parent`, or has its memory.
  void copy(std::uint32_t parent, std::uint32_t child);
  /// The process has another program, or has ended.
  void forget(std::uint32_t pid);
  /// Restores the instructions. Threads may have executed a breakpoint before that, and report it after.
  void remove_all();

  /// The address of the breakpoint that a thread of the process has executed if it has stopped at `pc`.
  std::optional<std::uint64_t> executed(std::uint32_t pid, std::uint64_t pc) const;
  /// Moves a stopped thread to `address`.
  static void move(std::uint32_t tid, std::uint64_t address);

private:
  using Place = std::pair<std::uint32_t, std::uint64_t>; ///< process, address
  std::map<Place, std::uint32_t> places_;                ///< the bytes that were there
  bool removed_ = false;
};

} // namespace sframe::process::live
