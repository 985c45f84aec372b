// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the registers of a frame are saved while its callees run. A debugger needs this to change them.

#pragma once

#include "sframe/unwind/registers.h"

#include <array>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// The program counter's number among DWARF register numbers: on most ABIs it has none of its own.
inline constexpr std::uint16_t pc_register = 0xffff;

/// Where a frame's value of a register is saved.
struct SaveLocation {
  enum class Kind : std::uint8_t {
    none,   ///< none: it was computed, or the location is unknown
    memory, ///< at address `where`
    reg,    ///< in register `where` (DWARF number, or pc_register) of the thread
  };
  Kind kind = Kind::none;
  std::uint64_t where = 0;
};

/// The save locations of all registers of a frame.
struct SaveLocations {
  static constexpr std::size_t pc = Registers::count; ///< the index that stands for the pc

  /// Where register `index` is saved; `index` is a DWARF number below Registers::count, or `pc`.
  SaveLocation get(std::size_t index) const {
    if (in_memory >> index & 1) return {SaveLocation::Kind::memory, where[index]};
    if (in_register >> index & 1) return {SaveLocation::Kind::reg, where[index]};
    return {};
  }
  /// Sets it; `index` as above.
  void set(std::size_t index, SaveLocation location) {
    const std::uint64_t bit = std::uint64_t{1} << index;
    in_memory &= ~bit;
    in_register &= ~bit;
    if (location.kind == SaveLocation::Kind::memory) in_memory |= bit;
    if (location.kind == SaveLocation::Kind::reg) in_register |= bit;
    where[index] = location.where;
  }

  std::uint64_t in_memory = 0, in_register = 0; ///< bit N: register N
  std::array<std::uint64_t, Registers::count + 1> where;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
