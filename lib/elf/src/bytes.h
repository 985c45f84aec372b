// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: numbers in bytes of either byte order, and ELF notes, which are read from files as well as from
// the memory of a core.

#pragma once

#include "sframe/abi.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace sframe::elf {

inline constexpr ByteOrder host_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// The number at `at`, which the caller has checked.
template <std::unsigned_integral T> T load(const std::byte* at, ByteOrder order) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return order == host_order ? value : std::byteswap(value);
}

/// The number at `offset`, or nothing where it does not fit.
template <std::unsigned_integral T>
std::optional<T> load_at(std::span<const std::byte> bytes, std::uint64_t offset, ByteOrder order) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  return load<T>(bytes.data() + offset, order);
}

/// The `size` (2, 4 or 8) bytes at `at` as an unsigned number, and the other way round.
inline std::uint64_t load_sized(const std::byte* at, unsigned size, ByteOrder order) {
  if (size == 2) return load<std::uint16_t>(at, order);
  return size == 4 ? load<std::uint32_t>(at, order) : load<std::uint64_t>(at, order);
}

template <std::unsigned_integral T> void store(std::byte* at, T value, ByteOrder order) {
  if (order != host_order) value = std::byteswap(value);
  std::memcpy(at, &value, sizeof value);
}

inline void store_sized(std::byte* at, std::uint64_t value, unsigned size, ByteOrder order) {
  if (size == 2) return store(at, static_cast<std::uint16_t>(value), order);
  if (size == 4) return store(at, static_cast<std::uint32_t>(value), order);
  store(at, value, order);
}

/// The integers of ELF notes.
inline constexpr std::uint32_t nt_gnu_build_id = 3;

struct Note {
  std::string_view owner; ///< without the final zero
  std::uint32_t type = 0;
  std::span<const std::byte> body;
};

/// Walks the notes in `bytes`. `align` is that of the segment or section: 8 means that names and bodies are
/// padded to 8, else to 4.
class NoteCursor {
public:
  NoteCursor(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t align)
      : bytes_(bytes), order_(order), align_(align == 8 ? 8 : 4) {}

  /// The next note; nothing at the end and where a note does not fit (then damaged() is true).
  std::optional<Note> next();
  bool damaged() const { return damaged_; }
  std::uint64_t offset() const { return at_; }

private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
  std::uint64_t align_;
  std::uint64_t at_ = 0;
  bool damaged_ = false;
};

/// The descriptor of the GNU build ID among the notes; empty where there is none.
std::span<const std::byte> build_id_in_notes(std::span<const std::byte> notes, ByteOrder order,
                                             std::uint64_t align);

} // namespace sframe::elf
