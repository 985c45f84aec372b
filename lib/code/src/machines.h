// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines whose code can be analysed: one entry per ABI, defined in src/<abi>/ and listed in abis.def.
// The rest of this library does not depend on the instruction set.

#pragma once

#include "sframe/code/instruction.h"

#include <memory>
#include <string>

namespace sframe::code {

/// An instruction set: its properties, and the factory of its decoder.
struct MachineEntry {
  Machine machine;
  std::unique_ptr<Decoder> (*make_decoder)(const AbiTraits& abi);
};

namespace machines {
#define SFRAME_DEFINE_ABI(name, identifier) extern const MachineEntry name;
#include "sframe/abis.def"
} // namespace machines

/// Returns the first instruction of `bytes` as text; empty if it is not known.
using Disassemble = std::string (*)(std::span<const std::byte> bytes, std::uint64_t address);

/// The disassembler of each ABI. Separate from MachineEntry, so that programs that print no instructions do
/// not load Capstone: its tables add at least a millisecond to each start.
namespace disassemblers {
#define SFRAME_DEFINE_ABI(name, identifier) extern const Disassemble name;
#include "sframe/abis.def"
} // namespace disassemblers

} // namespace sframe::code
