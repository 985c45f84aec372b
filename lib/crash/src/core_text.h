// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: strings in a core's memory.

#pragma once

#include "sframe/base/text.h"
#include "sframe/core/core.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sframe::crash {

/// The string at an address, up to `most` bytes; nothing if it is not in the core or longer.
inline std::optional<std::string> string_at(const core::Core& core, std::uint64_t address, std::size_t most) {
  const auto bytes = core.bytes_at(address);
  const std::string_view window = as_text(bytes.first(std::min(bytes.size(), most)));
  const std::size_t end = window.find('\0');
  return end == window.npos ? std::nullopt : std::optional<std::string>(window.substr(0, end));
}

} // namespace sframe::crash
