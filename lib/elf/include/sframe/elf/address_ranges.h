// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of addresses as lists of ranges: the executable bytes of an image that a section covers.

#pragma once

#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::elf {

/// Addresses [first, last], inclusive, so that the last byte of the address space needs no special case. If
/// `section` is not 0, offsets in that section of a relocatable object.
struct AddressRange {
  std::uint32_t section = 0;
  std::uint64_t first = 0, last = 0;

  /// The range of `size` bytes from `start`; nothing if it is empty or passes the end of the address space.
  static std::optional<AddressRange> make(std::uint64_t start, std::uint64_t size,
                                          std::uint32_t section = 0);
};

/// Sorts by section and address and joins ranges that overlap or touch. N log N.
void join_ranges(std::vector<AddressRange>& ranges);

/// Total size in bytes of a list made by join_ranges().
std::uint64_t total_bytes(const std::vector<AddressRange>& joined);

/// Bytes that are in both of two lists made by join_ranges(). Linear.
std::uint64_t common_bytes(const std::vector<AddressRange>& a, const std::vector<AddressRange>& b);

/// The image's executable sections, or its executable segments if it has no sections, joined.
std::vector<AddressRange> executable_addresses(const Image& image);

} // namespace sframe::elf
