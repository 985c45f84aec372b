// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes registers from the kernel's user_regs_struct by the machine's table.

#include "sframe/elf/registers.h"

#include "abi/abis.h"
#include "sframe/bytes.h"

namespace sframe::elf {

bool has_register_layout(std::uint16_t machine) {
  return find_machine(machine) != nullptr;
}

std::optional<RegisterValues> decode_registers(std::uint16_t machine, ByteOrder order,
                                               std::span<const std::byte> regs) {
  const MachineTraits* layout = find_machine(machine);
  if (!layout || regs.size() < layout->registers_size) return std::nullopt;
  RegisterValues result;
  for (const RegisterSlot& slot : layout->registers)
    result.set(slot.dwarf, load_sized(regs.data() + slot.offset, slot.size, order));
  result.pc = load<std::uint64_t>(regs.data() + layout->pc_offset, order);
  return result;
}

bool decode_fp_registers(std::uint16_t machine, ByteOrder order, std::span<const std::byte> regs,
                         RegisterValues& into) {
  const MachineTraits* layout = find_machine(machine);
  if (!layout) return true;
  for (const RegisterSlot& slot : layout->fp_registers) {
    if (regs.size() < std::size_t{slot.offset} + slot.size) return false;
    into.set(slot.dwarf, load_sized(regs.data() + slot.offset, slot.size, order));
  }
  return true;
}

} // namespace sframe::elf
