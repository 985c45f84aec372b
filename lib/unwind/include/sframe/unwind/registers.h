// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of one frame by DWARF number, each marked as known or unknown: an unwinder recovers some and
// loses others at every step, and a wrong value is worse than none. Small, because a walk copies it for
// every frame.

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::unwind {

struct Registers {
  /// Above the highest register number that a walk needs: 17 registers on AMD64, 32 on AArch64 (x0 to x30,
  /// sp), 32 on s390x (r0 to r15, f0 to f15).
  static constexpr std::uint16_t count = 34;
  /// The place of AArch64's VG (sframe/cfi/vector_granule.h), whose number is far above those: the last one,
  /// which no ABI uses. Callers have the same value unless a rule says where theirs is saved.
  static constexpr std::uint16_t vector_granule = count - 1;

  std::array<std::uint64_t, count> values; ///< valid only for registers in `known`
  std::uint64_t known = 0;                 ///< bit N: register N
  std::uint64_t pc = 0;                    ///< always known

  bool has(std::uint64_t reg) const { return reg < count && known >> reg & 1; }
  /// The value of register `reg`, or nothing if it is unknown or out of range.
  std::optional<std::uint64_t> get(std::uint64_t reg) const {
    return has(reg) ? std::optional(values[reg]) : std::nullopt;
  }
  /// Sets register `reg`; no effect for a number out of range.
  void set(std::uint64_t reg, std::uint64_t value) {
    if (reg >= count) return;
    values[reg] = value;
    known |= std::uint64_t{1} << reg;
  }
  /// Takes VG from the frame that this one has called, if it is not known from elsewhere.
  void keep_vector_granule(const Registers& callee) {
    if (callee.has(vector_granule) && !has(vector_granule))
      set(vector_granule, callee.values[vector_granule]);
  }
  /// Marks register `reg` as unknown; no effect for a number out of range.
  void forget(std::uint64_t reg) {
    if (reg < count) known &= ~(std::uint64_t{1} << reg);
  }
};

} // namespace sframe::unwind

#pragma GCC visibility pop
