// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the form of nearly all rows, in few bits. CFA is SP or FP plus an offset, RA is stored in the
// frame, FP is stored there or still in its register. Each ABI has its own packing (amd64/host.h etc.), with
// bits for the offsets that occur there.

#pragma once

#include <cstdint>

namespace sframe::here {

struct PlainRule {
  /// Bits available to an ABI.
  static constexpr unsigned bits = 25;

  bool fp_based = false; ///< CFA counts from FP, not from SP
  bool fp_saved = false;
  std::int64_t cfa_offset = 0; ///< bytes from SP or FP
  std::int64_t ra_offset = 0;  ///< bytes from the CFA
  std::int64_t fp_offset = 0;  ///< the same; 0 unless fp_saved

  friend constexpr bool operator==(const PlainRule&, const PlainRule&) = default;
};

/// An integer of `width` bits at bit `shift`, in units of `unit` bytes.
template <unsigned shift, unsigned width, unsigned unit> struct BitField {
  static constexpr std::uint32_t limit = 1u << width;

  static constexpr std::uint32_t put(std::int64_t bytes) {
    return static_cast<std::uint32_t>(bytes / unit) << shift;
  }
  static constexpr std::int64_t get(std::uint32_t packed) {
    return static_cast<std::int64_t>(packed >> shift & (limit - 1)) * unit;
  }
  /// True if the value can be represented.
  static constexpr bool fits(std::int64_t bytes) {
    return bytes >= 0 && bytes % unit == 0 && bytes / unit < limit;
  }
};

} // namespace sframe::here
