// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: libunwind's register numbers and names, as data, and their DWARF numbers. The public headers of
// all targets cannot be included in one file; unit tests of each target check that the numbers agree.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/save_locations.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::libunwind {

struct TargetRegisters {
  const AbiTraits* little; ///< nullptr if the target has no such byte order
  const AbiTraits* big;
  ByteOrder default_order;
  int ip, cfa; ///< cfa: another name of SP, or -1
  int last;    ///< number of the last register
  int first_fp, num_fp;
  std::span<const std::uint8_t> fp_dwarf; ///< DWARF numbers of tracked floating-point registers
  /// The frame for which unw_is_signal_frame() is true: the interrupted one, or else the trampoline.
  /// libunwind 1.6 differs between targets, and programs depend on it.
  bool marks_interrupted;
  /// A frame without any information is the outermost one, and its procedure has one byte (libunwind 1.6 on
  /// AMD64); on other targets both are errors.
  bool unknown_is_last;
  std::span<const char* const> names; ///< of numbers from 0 on, without gaps

  /// The DWARF number of a tracked register, or pc_register; nothing for others.
  std::optional<std::uint16_t> dwarf_of(int reg, const AbiTraits& abi) const;
  /// The inverse, for numbers returned by dwarf_of().
  int number_of(std::uint16_t dwarf) const;
  bool is_fp(int reg) const { return reg >= first_fp && reg < first_fp + num_fp; }
  const char* name(int reg) const;
};

/// The registers of an ABI's target. Constant cost.
const TargetRegisters& registers_of(const AbiTraits& abi);

const TargetRegisters& x86_64_registers();
const TargetRegisters& aarch64_registers();
const TargetRegisters& s390x_registers();

} // namespace sframe::libunwind
