// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers in bytes: at any alignment, in either byte order. Every access is a memcpy of a fixed size, which
// compilers turn into one load and, if needed, one byte swap. The only implementation, for the codec and for
// all readers of ELF, DWARF, instructions and memory.

#pragma once

#include "sframe/abi.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace sframe {

inline constexpr ByteOrder host_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// As std::byteswap(), which C++20 does not have.
template <std::integral T> constexpr T swap_bytes(T value) {
  if constexpr (sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  else
    return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}

/// The integer at `from`. Unchecked: the caller has checked the bounds.
template <std::integral T> T load(const std::byte* from, ByteOrder order) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return order == host_order ? value : swap_bytes(value);
}

/// The integer at `offset`, or nothing if it does not fit in `bytes`.
template <std::integral T>
std::optional<T> load_at(std::span<const std::byte> bytes, std::uint64_t offset, ByteOrder order) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  return load<T>(bytes.data() + offset, order);
}

/// The unsigned integer of `size` bytes at `from`: 1, 2, 4 or 8.
inline std::uint64_t load_sized(const std::byte* from, unsigned size, ByteOrder order) {
  switch (size) {
  case 1: return std::to_integer<std::uint8_t>(*from);
  case 2: return load<std::uint16_t>(from, order);
  case 4: return load<std::uint32_t>(from, order);
  default: return load<std::uint64_t>(from, order);
  }
}

/// The unsigned integer of all bytes, at most 8.
inline std::uint64_t load_all(std::span<const std::byte> bytes, ByteOrder order) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 |
            std::to_integer<std::uint64_t>(bytes[order == ByteOrder::big ? i : bytes.size() - 1 - i]);
  return value;
}

/// Writes the integer to the sizeof(T) bytes at `to`.
template <std::integral T> void store(std::byte* to, T value, ByteOrder order) {
  if (order != host_order) value = swap_bytes(value);
  std::memcpy(to, &value, sizeof value);
}

/// Writes the low `size` bytes of an integer: 1, 2, 4 or 8.
inline void store_sized(std::byte* to, std::uint64_t value, unsigned size, ByteOrder order) {
  switch (size) {
  case 1: *to = static_cast<std::byte>(value); break;
  case 2: store(to, static_cast<std::uint16_t>(value), order); break;
  case 4: store(to, static_cast<std::uint32_t>(value), order); break;
  default: store(to, value, order);
  }
}

} // namespace sframe

#pragma GCC visibility pop
