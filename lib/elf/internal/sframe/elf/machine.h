// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the machines' ELF files, as data: the constants defined by the files of src/abi/.
// abis.def lists them. For the libraries of this tree; not installed.

#pragma once

#include "sframe/elf/go_functions.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <span>

namespace sframe::elf {

/// A relocation type that changes plain data.
struct RelocationType {
  std::uint32_t type;
  Image::RelocationKind kind;
};

/// A relocation type that changes an instruction: which bits of a word get which bits of the value, an
/// address plus the addend.
struct RelocatedField {
  enum class Of : std::uint8_t {
    symbol,
    slot, ///< the symbol's entry in a table that a linker makes (global offset table, thread-local storage)
  };
  enum class Base : std::uint8_t {
    none,
    place, ///< less the address of the place
    page,  ///< the same, both without their low 12 bits
  };
  std::uint32_t type;
  std::uint8_t size = 0; ///< of the word, in bytes; 0: nothing is changed
  Of of = Of::symbol;
  Base base = Base::none;
  std::uint8_t shift = 0;       ///< right, of the value
  std::uint8_t lsb = 0;         ///< the lowest bit in the word
  std::uint8_t width = 0;       ///< in bits
  bool checked = false;         ///< the value is signed, and must fit
  std::uint8_t low_bits_at = 0; ///< not 0: the two lowest bits are there (AArch64's ADR)
};

struct MachineTraits {
  std::uint16_t id;       ///< e_machine
  std::uint32_t relative; ///< R_*_RELATIVE: the word becomes the addend plus the bias
  std::span<const RelocationType> relocations;
  std::uint32_t largest_page = smallest_page; ///< of the machine's kernels
  std::span<const RelocatedField> code_relocations = {};
  ByteOrder code_order = ByteOrder::little; ///< of instructions
  GoFrames go;
};

namespace abi {
#define SFRAME_DEFINE_ABI(name, identifier) extern const MachineTraits name;
#include "sframe/abis.def"
} // namespace abi

/// The machine, or nullptr.
const MachineTraits* find_machine(std::uint16_t id);

} // namespace sframe::elf
