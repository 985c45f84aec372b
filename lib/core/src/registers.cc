// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes registers by the machine's tables: from the kernel's user_regs_struct, and from minidumps.

#include "sframe/core/registers.h"

#include "register_layout.h"
#include "sframe/bytes.h"

namespace sframe::core {

bool has_register_layout(std::uint16_t machine) {
  return find_layout(machine) != nullptr;
}

namespace {

RegisterValues decode(std::span<const RegisterSlot> slots, ByteOrder order, std::span<const std::byte> regs) {
  RegisterValues result;
  for (const RegisterSlot& slot : slots)
    result.set(slot.dwarf, load_sized(regs.data() + slot.offset, slot.size, order));
  return result;
}

} // namespace

std::optional<RegisterValues> decode_registers(std::uint16_t machine, ByteOrder order,
                                               std::span<const std::byte> regs) {
  const RegisterLayout* layout = find_layout(machine);
  if (!layout || regs.size() < layout->size) return std::nullopt;
  RegisterValues result = decode(layout->registers, order, regs);
  result.pc = load<std::uint64_t>(regs.data() + layout->pc_offset, order);
  return result;
}

std::optional<RegisterValues> decode_sampled_registers(std::uint16_t machine, ByteOrder order,
                                                       std::uint64_t mask, std::span<const std::byte> regs) {
  const RegisterLayout* const layout = find_layout(machine);
  if (!layout || layout->sampled.empty() || (mask >> layout->sampled_pc & 1) == 0) return std::nullopt;
  RegisterValues result;
  for (unsigned number = 0; mask != 0; ++number, mask >>= 1) {
    if ((mask & 1) == 0) continue;
    if (regs.size() < 8) return std::nullopt;
    const auto value = load<std::uint64_t>(regs.data(), order);
    regs = regs.subspan(8);
    if (number == layout->sampled_pc) result.pc = value;
    if (number < layout->sampled.size() && layout->sampled[number] != no_register)
      result.set(layout->sampled[number], value);
  }
  return result;
}

std::optional<RegisterValues> decode_lower_halves(std::uint16_t machine, ByteOrder order,
                                                  std::span<const std::byte> regs) {
  const RegisterLayout* const layout = find_layout(machine);
  if (!layout || !layout->other_mode || regs.size() < layout->other_mode->size) return std::nullopt;
  RegisterValues result = decode(layout->other_mode->registers, order, regs);
  result.pc = load<std::uint32_t>(regs.data() + layout->other_mode->pc_offset, order);
  result.lower_halves = true;
  return result;
}

std::optional<RegisterValues> decode_context(std::uint16_t machine, std::span<const std::byte> context) {
  const RegisterLayout* const layout = find_layout(machine);
  if (!layout) return std::nullopt;
  for (const ContextLayout& known : layout->contexts) {
    if (context.size() < known.size) continue;
    const auto flags = load<std::uint32_t>(context.data() + known.flags_offset, ByteOrder::little);
    if (!(flags & known.machine) || !(flags & known.groups.front().flag)) continue;
    RegisterValues result;
    for (const ContextGroup& group : known.groups) {
      if (!(flags & group.flag)) continue;
      for (const RegisterSlot& slot : group.registers)
        result.set(slot.dwarf, load_sized(context.data() + slot.offset, slot.size, ByteOrder::little));
    }
    result.pc = load<std::uint64_t>(context.data() + known.pc_offset, ByteOrder::little);
    return result;
  }
  return std::nullopt;
}

bool decode_fp_registers(std::uint16_t machine, ByteOrder order, std::span<const std::byte> regs,
                         RegisterValues& into) {
  const RegisterLayout* layout = find_layout(machine);
  if (!layout) return true;
  for (const RegisterSlot& slot : layout->fp_registers) {
    if (regs.size() < std::size_t{slot.offset} + slot.size) return false;
    into.set(slot.dwarf, load_sized(regs.data() + slot.offset, slot.size, order));
  }
  return true;
}

bool decode_vector_length(VectorSet set, std::uint16_t machine, ByteOrder order,
                          std::span<const std::byte> header, RegisterValues& into) {
  const RegisterLayout* const layout = find_layout(machine);
  if (!layout || !layout->vectors) return true;
  const ScalableVectors& vectors = *layout->vectors;
  const auto length = load_at<std::uint16_t>(header, vectors.length_offset, order),
             flags = load_at<std::uint16_t>(header, vectors.flags_offset, order);
  if (!length || !flags) return false;
  if (set == VectorSet::streaming && !(*flags & vectors.active)) return true;
  if (*length == 0 || *length % vectors.quantum || *length > vectors.longest) return false;
  into.set(vectors.granule, *length / std::uint64_t{8});
  return true;
}

} // namespace sframe::core
