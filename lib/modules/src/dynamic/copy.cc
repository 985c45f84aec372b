// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copying from a process that may say anything of sizes.

#include "dynamic/registration.h"

#include <algorithm>

namespace sframe::modules::dynamic {

std::optional<std::vector<std::byte>> copy_bytes(unwind::Memory& memory, std::uint64_t address,
                                                 std::uint64_t size) {
  constexpr std::uint64_t piece = 1 << 20; // a wild size fails at the end of what is mapped
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const std::size_t done = bytes.size();
    bytes.resize(done + std::min(piece, size - done));
    if (!memory.bytes(address + done, std::span(bytes).subspan(done))) return std::nullopt;
  }
  return bytes;
}

std::string copy_string(unwind::Memory& memory, std::uint64_t address) {
  constexpr std::size_t longest = 4096;
  std::string text;
  while (address && text.size() < longest) {
    const auto byte = memory.number(address + text.size(), 1);
    if (!byte) return {};
    if (*byte == 0) break;
    text += static_cast<char>(*byte);
  }
  return text;
}

} // namespace sframe::modules::dynamic
