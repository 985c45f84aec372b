// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the differences between the machines' ELF files, as data: one file per machine in machine/, one
// line each in machine/registry.cc.

#pragma once

#include "sframe/elf/image.h"

#include <cstdint>
#include <span>

namespace sframe::elf {

/// A relocation type that changes plain data.
struct RelocationType {
  std::uint32_t type;
  Image::RelocationKind kind;
};

/// A register in the kernel's user_regs_struct.
struct RegisterSlot {
  std::uint16_t offset;
  std::uint16_t dwarf;
  std::uint8_t size = 8;
};

struct Machine {
  std::uint16_t id;       ///< e_machine
  std::uint32_t relative; ///< R_*_RELATIVE: the word becomes the addend plus the bias
  std::span<const RelocationType> relocations;
  std::span<const RegisterSlot> registers;
  std::uint16_t pc_offset;      ///< of the program counter in user_regs_struct
  std::uint16_t registers_size; ///< of user_regs_struct
  /// The floating-point registers in NT_FPREGSET in which functions save general registers; empty if there
  /// are none.
  std::span<const RegisterSlot> fp_registers = {};
};

extern const Machine amd64, aarch64, s390x;

/// The machine, or nullptr.
const Machine* find_machine(std::uint16_t id);

} // namespace sframe::elf
