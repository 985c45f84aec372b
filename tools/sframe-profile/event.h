// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What takes a sample: the argument of -e.

#pragma once

#include "sframe/base/problem.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::profile_tool {

struct Event {
  enum class Kind : std::uint8_t { cpu, off_cpu, wall, tracepoint, kprobe, uprobe };
  Kind kind = Kind::cpu;
  std::string file;         ///< of a uprobe
  std::string group, name;  ///< of a tracepoint; of a probe the function, or empty
  std::uint64_t offset = 0; ///< of a probe, from the function; without one from the start of the file

  /// As it was asked for.
  std::string text() const;
  bool has_clock() const { return kind == Kind::cpu || kind == Kind::wall; }
  bool has_switches() const { return kind == Kind::off_cpu || kind == Kind::wall; }
};

/// "uprobe:/usr/bin/perl:main", "uprobe:libc.so.6:malloc+0x10", "uprobe:/usr/bin/perl:+0x1234".
Result<Event> parse_event(std::string_view text);

} // namespace sframe::profile_tool
