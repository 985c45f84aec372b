// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what nearly all rows say, in few bits. CFA is SP or FP plus an offset, RA is stored in the frame,
// FP is stored there or still in its register. Each ABI packs it in its own way (amd64/host.h and its kin):
// what frames do there decides which offsets get the bits.

#pragma once

#include <cstdint>

namespace sframe::here {

struct PlainRule {
  /// Bits that an ABI has for it.
  static constexpr unsigned bits = 25;

  bool fp_based = false; ///< CFA counts from FP, not from SP
  bool fp_saved = false;
  std::int64_t cfa_offset = 0; ///< bytes from SP or FP
  std::int64_t ra_offset = 0;  ///< bytes from the CFA
  std::int64_t fp_offset = 0;  ///< the same; 0 unless fp_saved

  friend constexpr bool operator==(const PlainRule&, const PlainRule&) = default;
};

/// A number of `width` bits at bit `shift`, counted in units of `unit` bytes.
template <unsigned shift, unsigned width, unsigned unit> struct BitField {
  static constexpr std::uint32_t limit = 1u << width;

  static constexpr std::uint32_t put(std::int64_t bytes) {
    return static_cast<std::uint32_t>(bytes / unit) << shift;
  }
  static constexpr std::int64_t get(std::uint32_t packed) {
    return static_cast<std::int64_t>(packed >> shift & (limit - 1)) * unit;
  }
  /// True where the number gets in whole.
  static constexpr bool fits(std::int64_t bytes) {
    return bytes >= 0 && bytes % unit == 0 && bytes / unit < limit;
  }
};

} // namespace sframe::here
