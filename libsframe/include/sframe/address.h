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

} // namespace sframe
