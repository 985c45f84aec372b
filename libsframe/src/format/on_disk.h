// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers as they stand in a section: any alignment, either byte order. Every access is a memcpy of a fixed
// size, which compilers turn into one load and, where needed, one byte swap.

#pragma once

#include "sframe/abi.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sframe::format {

constexpr ByteOrder host_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

template <std::integral T> T load(const std::byte* from, ByteOrder order) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return order == host_order ? value : std::byteswap(value);
}

template <std::integral T> void store(std::byte* to, T value, ByteOrder order) {
  if (order != host_order) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

/// An unsigned integer of 1, 2 or 4 bytes.
inline std::uint32_t load_sized(const std::byte* from, std::uint32_t size, ByteOrder order) {
  if (size == 1) return std::to_integer<std::uint32_t>(*from);
  if (size == 2) return load<std::uint16_t>(from, order);
  return load<std::uint32_t>(from, order);
}

inline void store_sized(std::byte* to, std::uint32_t value, std::uint32_t size, ByteOrder order) {
  if (size == 1)
    *to = static_cast<std::byte>(value);
  else if (size == 2)
    store(to, static_cast<std::uint16_t>(value), order);
  else
    store(to, value, order);
}

/// Reverses the bytes of one integer in place.
inline void swap_bytes(std::byte* at, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size / 2; ++i) std::swap(at[i], at[size - 1 - i]);
}

/// Offsets of the header's fields; the same in all versions (specification, section 2.2).
namespace header {
constexpr std::uint32_t version = 2, flags = 3, abi = 4, fixed_fp = 5, fixed_ra = 6, aux_size = 7,
                        num_fdes = 8, num_fres = 12, fre_size = 16, fde_offset = 20, fre_offset = 24,
                        size = 28;
} // namespace header

/// The FDE's info byte, the same bits in all versions but for the signal bit (section 2.3.3).
namespace info {
constexpr std::uint8_t fre_type = 0x0f, pc_mask = 0x10, key_b = 0x20, signal = 0x80;
constexpr std::uint8_t fde_type = 0x1f; ///< in info2
} // namespace info

/// Bits of a flexible FDE's control word (section 3.2).
namespace control {
constexpr std::uint32_t reg_p = 1, deref_p = 2, reg_shift = 3;
} // namespace control

} // namespace sframe::format
