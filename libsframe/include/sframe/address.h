// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of addresses. Kernels stand near the top of the address space, where start + size wraps, and a
// hostile file may claim any start and size. Code that has a start and a size compares distances
// (`pc - start < size`), which never wrap; code that needs an end takes it from here.

#pragma once

#include <cstdint>

namespace sframe {

/// The highest address there is.
inline constexpr std::uint64_t last_address = ~std::uint64_t{0};

/// The end of [start, start + size): the first address after the range. Where there is none, because the
/// range reaches the top of the address space or would wrap, last_address.
constexpr std::uint64_t range_end(std::uint64_t start, std::uint64_t size) {
  return size > last_address - start ? last_address : start + size;
}

/// The least multiple of `align` that is not below `value`. `align` is a power of two; what passes the top wraps.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

/// An alignment that a file claims: 1 where it is no power of two, and at most `max`, which is one.
constexpr std::uint64_t sane_align(std::uint64_t align, std::uint64_t max) {
  if (align == 0 || (align & (align - 1)) != 0) return 1;
  return align < max ? align : max;
}

} // namespace sframe
