// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines whose code can be analysed: one entry per ABI, defined in src/<abi>/ and listed in abis.def.
// The rest of this library does not depend on the instruction set.

#pragma once

#include "sframe/code/disassembly.h"
#include "sframe/code/instruction.h"

#include <memory>
#include <string>

namespace sframe::code {

/// An instruction set: its properties, and the factory of its decoder.
struct MachineEntry {
  Machine machine;
  std::unique_ptr<Decoder> (*make_decoder)(const AbiTraits& abi);
  /// Calls, and instructions that put an address of the code into a register, end with the distance from
  /// their end to it, in four bytes, the lowest first.
  bool refers_by_distance = false;
  /// An address is put into a register in two steps, its page first.
  bool loads_pages = false;
};

/// The entry of an ABI. Constant cost.
const MachineEntry& machine_entry(const AbiTraits& abi);

namespace machines {
#define SFRAME_DEFINE_ABI(name, identifier) extern const MachineEntry name;
#include "sframe/abis.def"
} // namespace machines

/// An instruction set for people.
struct Disassembler {
  /// Returns the first instruction of `bytes` as text; empty if it is not known.
  std::string (*text)(std::span<const std::byte> bytes, std::uint64_t address);
  /// Returns its operands. nullptr: they are not known.
  InstructionOperands (*operands)(std::span<const std::byte> bytes, std::uint64_t address) = nullptr;
};

/// The disassembler of each ABI. Separate from MachineEntry, so that programs that print no instructions do
/// not load Capstone: its tables add at least a millisecond to each start.
namespace disassemblers {
#define SFRAME_DEFINE_ABI(name, identifier) extern const Disassembler name;
#include "sframe/abis.def"
} // namespace disassemblers

} // namespace sframe::code
