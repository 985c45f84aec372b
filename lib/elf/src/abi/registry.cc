// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds machines by their number in the ELF header.

#include "sframe/base/find_entry.h"
#include "sframe/elf/machine.h"

namespace sframe::elf {

const MachineTraits* find_machine(std::uint16_t id) {
  static const MachineTraits* const all[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
  };
  return find_entry(all, id, &MachineTraits::id);
}

} // namespace sframe::elf
