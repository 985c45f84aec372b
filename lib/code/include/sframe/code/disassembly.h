// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction for people: as text, and the registers and memory that it uses.

#pragma once

#include "sframe/abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::code {

/// The first instruction of `bytes`, which are at `address`, in the ABI's assembler syntax: "push %rbp" (AT&T
/// syntax for AMD64, as in GNU tools), "stp x29, x30, [sp, #-0x20]!". Hexadecimal bytes if the disassembler
/// does not know it. Slow: sets up a disassembler for each call.
std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address);

/// The file of the library that disassembles for AArch64 and s390x. It is loaded when the first instruction
/// of such a machine is shown, so a program that confines itself before must still be able to read it; if it
/// cannot, it gets hexadecimal bytes and no operands.
const char* disassembler_library();

/// Memory that an instruction accesses: `size` bytes at base + index * scale + displacement, where registers
/// have their values before the instruction.
struct MemoryAccess {
  static constexpr std::uint8_t none = 0xff; ///< no register

  std::uint8_t base = none, index = none; ///< DWARF numbers
  std::uint8_t scale = 1;
  std::int64_t displacement = 0; ///< the address itself if there is no register
  std::uint16_t size = 0;        ///< bytes; 0: not known
  bool reads = false, writes = false;
};

/// What an instruction uses, as far as the disassembler reports it.
struct InstructionOperands {
  std::uint8_t length = 0; ///< bytes of the instruction; 0: it is not known
  std::vector<std::uint8_t>
      registers; ///< DWARF numbers of the general ones read: first those in the text, in its order
  std::vector<MemoryAccess>
      memory; ///< those whose address depends on general registers only, and that can fault
  /// Memory at other addresses, by vectors of indices, a segment, 32 bits: only known on AMD64.
  bool reads_elsewhere = false, writes_elsewhere = false;
  bool is_return = false; ///< the new pc is the first word of memory read; only known on AMD64

  /// A value that is read: the low `size` bytes of a register, or those at the first of `memory`.
  struct Value {
    std::uint8_t reg = MemoryAccess::none; ///< DWARF number
    std::uint8_t size = 0;
  };
  std::optional<Value> target; ///< the new pc of an indirect call or jump; only known on AMD64
  bool is_call = false;        ///< with `target`
  /// Of an integer division that faults if it is zero or if the quotient does not fit; only known on AMD64,
  /// where the dividend is twice as wide: in DX:AX of the size, for one byte in AX.
  std::optional<Value> divisor;
  bool is_signed_division = false;
  /// Made to be refused (ud2): it is not that the processor lacks it. Only known on AMD64.
  bool is_undefined = false;
};

/// The operands of the first instruction of `bytes`, which are at `address`. Slow, as instruction_text().
InstructionOperands instruction_operands(const AbiTraits& abi, std::span<const std::byte> bytes,
                                         std::uint64_t address);

} // namespace sframe::code
