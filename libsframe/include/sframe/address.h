// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address arithmetic. Kernel addresses are near the top of the address space, where start + size wraps, and a
// hostile file may claim any start and size. Ranges are a start and a size, and code compares distances (`pc
// - start < size`), which never wrap; code that needs an end uses range_end().

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe {

/// The highest address.
inline constexpr std::uint64_t last_address = ~std::uint64_t{0};

/// The end of [start, start + size): the first address after the range. last_address if the range reaches the
/// top of the address space or would wrap.
constexpr std::uint64_t range_end(std::uint64_t start, std::uint64_t size) {
  return size > last_address - start ? last_address : start + size;
}

/// The addresses [start, start + size). May reach the last address, which an end cannot represent.
struct AddressRange {
  std::uint64_t start = 0, size = 0;

  /// [start, end); empty if `end` is not above `start`.
  static constexpr AddressRange between(std::uint64_t start, std::uint64_t end) {
    return {start, end > start ? end - start : 0};
  }
  constexpr std::uint64_t end() const { return range_end(start, size); }
  constexpr bool empty() const { return size == 0; }
  constexpr bool contains(std::uint64_t address) const { return address - start < size; }
  /// True if all of `other` is in this range; an empty one may also be at the end.
  constexpr bool contains(const AddressRange& other) const {
    const std::uint64_t distance = other.start - start;
    return distance <= size && other.size <= size - distance;
  }
  /// False if either is empty.
  constexpr bool overlaps(const AddressRange& other) const {
    return !empty() && !other.empty() && (contains(other.start) || other.contains(start));
  }
  friend constexpr bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// Page sizes of the machines that SFrame is defined for: the smallest, and the largest of their kernels.
inline constexpr std::uint64_t smallest_page = 0x1000, largest_page = 0x10000;

/// `value` rounded up to a multiple of `align`, a power of two. Wraps past the top.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

/// An alignment read from a file: 1 if it is not a power of two, and at most `max`, a power of two.
constexpr std::uint64_t valid_align(std::uint64_t align, std::uint64_t max) {
  if (align == 0 || (align & (align - 1)) != 0) return 1;
  return align < max ? align : max;
}

} // namespace sframe

#pragma GCC visibility pop
