// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: libunwind's numbers and names of registers, as data, and ours for them. That the numbers are those
// of the public headers, which this file cannot include all, is shown by the unit tests of each target.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/save_locations.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::front {

struct TargetRegisters {
  const AbiTraits* little; ///< nullptr where the target has no such byte order
  const AbiTraits* big;
  ByteOrder usual;
  int ip, cfa; ///< cfa: another name of SP, or -1
  int last;    ///< number of the last register
  int first_fp, num_fp;
  std::span<const std::uint8_t> fp_dwarf; ///< DWARF numbers of floating-point registers that are followed
  /// Which frame unw_is_signal_frame() tells of: the one that was interrupted, or the trampoline.
  /// libunwind 1.6 does not agree with itself, and programs go by what it does.
  bool marks_interrupted;
  /// A frame of which nothing is known is the last one, and its procedure has one byte (libunwind 1.6 on
  /// AMD64); elsewhere both are errors.
  bool unknown_is_last;
  std::span<const char* const> names; ///< of 0 on, as far as they go in a row

  /// The DWARF number of a register that is followed, or pc_register; nothing for others.
  std::optional<std::uint16_t> dwarf_of(int reg, const AbiTraits& abi) const;
  /// The other way round, for numbers that dwarf_of() gives.
  int number_of(std::uint16_t dwarf) const;
  bool is_fp(int reg) const { return reg >= first_fp && reg < first_fp + num_fp; }
  const char* name(int reg) const;
};

/// The registers of an ABI's target. Constant cost.
const TargetRegisters& registers_of(const AbiTraits& abi);

const TargetRegisters& x86_64_registers();
const TargetRegisters& aarch64_registers();
const TargetRegisters& s390x_registers();

} // namespace sframe::front
