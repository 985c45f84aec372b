// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of one to four bytes, and the bits of control words. (Offsets in the header: version.h.)

#pragma once

#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>

namespace sframe::format {

/// An offset or data word of 1, 2 or 4 bytes, as load_sized(): without its case of 8 bytes, which costs a
/// tenth of the time that decoding a row takes.
inline std::uint32_t load_field(const std::byte* from, std::uint32_t size, ByteOrder order) {
  if (size == 1) return std::to_integer<std::uint32_t>(*from);
  if (size == 2) return load<std::uint16_t>(from, order);
  return load<std::uint32_t>(from, order);
}

inline void store_field(std::byte* to, std::uint32_t value, std::uint32_t size, ByteOrder order) {
  if (size == 1)
    *to = static_cast<std::byte>(value);
  else if (size == 2)
    store(to, static_cast<std::uint16_t>(value), order);
  else
    store(to, value, order);
}

/// Reverses the bytes of one integer of 1, 2, 4 or 8 bytes in place.
inline void swap_bytes(std::byte* at, std::uint32_t size) {
  store_sized(at, load_sized(at, size, ByteOrder::little), size, ByteOrder::big);
}

/// Bits of a flexible FDE's control word (SFrame 3 specification, section 3.2).
namespace control {
constexpr std::uint32_t reg_p = 1, deref_p = 2, reg_shift = 3;
} // namespace control

} // namespace sframe::format
