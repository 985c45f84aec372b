// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where and when a core was made, as systemd-coredump records it with the file (systemd-coredump(8),
// "Information about the crashed process"): extended attributes, and the time in the file's name,
// "core.NAME.UID.BOOT.PID.MICROSECONDS.zst". The time of the file itself is not used: copies have another.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct CoreOrigin {
  std::optional<std::uint64_t> time; ///< of the crash: microseconds since 1970, UTC
  std::string host;                  ///< empty if unknown
};

/// Empty for a file without them, and for standard input.
CoreOrigin origin_of(const std::string& path);

/// The time in a file's name; nothing for other names.
std::optional<std::uint64_t> time_in_name(std::string_view path);

/// "2026-11-23 18:56:26 UTC".
std::string time_text(std::uint64_t microseconds);

} // namespace sframe::crash

#pragma GCC visibility pop
