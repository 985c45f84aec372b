// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes registers by the machine's tables: from the kernel's user_regs_struct, and from minidumps.

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
  result.other_mode = layout->other_mode && layout->other_mode(result);
  return result;
}

std::optional<RegisterValues> decode_context(std::uint16_t machine, std::span<const std::byte> context) {
  const MachineTraits* const traits = find_machine(machine);
  if (!traits) return std::nullopt;
  for (const ContextLayout& layout : traits->contexts) {
    if (context.size() < layout.size) continue;
    const auto flags = load<std::uint32_t>(context.data() + layout.flags_offset, ByteOrder::little);
    if (!(flags & layout.machine) || !(flags & layout.groups.front().flag)) continue;
    RegisterValues result;
    for (const ContextGroup& group : layout.groups) {
      if (!(flags & group.flag)) continue;
      for (const RegisterSlot& slot : group.registers)
        result.set(slot.dwarf, load_sized(context.data() + slot.offset, slot.size, ByteOrder::little));
    }
    result.pc = load<std::uint64_t>(context.data() + layout.pc_offset, ByteOrder::little);
    result.other_mode = traits->other_mode && traits->other_mode(result);
    return result;
  }
  return std::nullopt;
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
