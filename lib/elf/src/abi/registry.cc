// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds machines by their number in the ELF header.

#include "sframe/elf/machine.h"

namespace sframe::elf {

const MachineTraits* find_machine(std::uint16_t id) {
  static const MachineTraits* const all[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
  };
  for (const MachineTraits* machine : all)
    if (machine->id == id) return machine;
  return nullptr;
}

} // namespace sframe::elf
