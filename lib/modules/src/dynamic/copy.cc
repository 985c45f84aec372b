// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copying from a process; its sizes are not trusted.

#include "dynamic/registration.h"

#include <algorithm>

namespace sframe::modules::dynamic {

std::optional<std::vector<std::byte>> copy_bytes(unwind::Memory& memory, std::uint64_t address,
                                                 std::uint64_t size) {
  constexpr std::uint64_t piece = 1 << 20; // in pieces: an implausible size fails at the mapping's end
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const std::size_t done = bytes.size();
    bytes.resize(done + std::min(piece, size - done));
    if (!memory.bytes(address + done, std::span(bytes).subspan(done))) return std::nullopt;
  }
  return bytes;
}

std::string copy_string(unwind::Memory& memory, std::uint64_t address, Budget* budget) {
  constexpr std::size_t longest = 4096;
  std::string text;
  while (address && text.size() < longest) {
    const auto byte = take(budget, 1) ? memory.number(address + text.size(), 1) : std::nullopt;
    if (!byte) return {};
    if (*byte == 0) break;
    text += static_cast<char>(*byte);
  }
  return text;
}

} // namespace sframe::modules::dynamic
