// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of variable size, as call frame information has them (DWARF 5, section 7.6): seven bits a byte, the
// lowest ones first; all bytes but the last have their top bit set. 624485 is e5 8e 26.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// Appends at most 10 bytes. Throws std::bad_alloc.
inline void append_uleb(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

/// The same with a sign, which is bit 6 of the last byte.
inline void append_sleb(std::vector<std::byte>& out, std::int64_t value) {
  for (; value < -0x40 || value >= 0x40; value >>= 7)
    out.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(value) & 0x7f) | 0x80));
  out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) & 0x7f));
}

} // namespace sframe

#pragma GCC visibility pop
