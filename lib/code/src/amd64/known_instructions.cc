// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd64/known_instructions.h"

#include <algorithm>

namespace sframe::code::amd64 {

/// Without memory, nothing is remembered.
bool KnownInstructions::is_in_use() {
  if (added_ == worthwhile) return entries_ != nullptr;
  if (++added_ == worthwhile)
    entries_.reset(static_cast<Entry*>(std::calloc(std::size_t{1} << place_bits, sizeof(Entry))));
  return entries_ != nullptr;
}

void KnownInstructions::add(std::span<const std::byte> bytes, const ZydisDecodedInstruction& raw,
                            const Instruction& instruction, std::span<const Effect> effects,
                            std::optional<std::uint8_t> displaced) {
  constexpr unsigned relative_to_rip = 5;
  const bool is_relative = (raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) && raw.raw.modrm.mod == 0 &&
                           raw.raw.modrm.rm == relative_to_rip;
  if (!is_in_use() || (is_relative && !displaced) || effects.size() > max_effects) return;
  Entry entry{.key = {},
              .effects = {},
              .num_effects = static_cast<std::uint8_t>(effects.size()),
              .is_relative = is_relative,
              .length = raw.length,
              .flow = instruction.flow,
              .condition = instruction.condition,
              .is_nop = instruction.is_nop,
              .writes_flags = instruction.writes_flags,
              .jump_register = instruction.jump_register,
              .system_call_register = instruction.system_call_register};
  std::ranges::copy(effects, entry.effects.begin());
  unsigned size = raw.length;
  if (const auto& distance = raw.raw.imm[0]; distance.is_relative) {
    entry.distance = {distance.offset, static_cast<std::uint8_t>(distance.size / 8)};
    if (distance.size != 8 && distance.size != 32) return;
    if (distance.offset + entry.distance.size != size) return;
    if (instruction.target == 0) return; // not followed: Zydis knows branches on mask registers
    size = distance.offset;
  } else if (displaced) {
    entry.displacement = {raw.raw.disp.offset, static_cast<std::uint8_t>(raw.raw.disp.size / 8)};
    entry.displaced = *displaced;
    const std::uint64_t origin = is_relative ? instruction.address + instruction.length : 0;
    for (unsigned i = 0; i < effects.size(); ++i)
      if (*displaced >> i & 1)
        entry.effects[i].value =
            sum(effects[i].value, -(origin + static_cast<std::uint64_t>(raw.raw.disp.value)));
    if (instruction.flow == Flow::indirect_call && is_relative) {
      if (instruction.target == 0) return; // not followed
      entry.distance = entry.displacement;
    }
    size = raw.raw.disp.offset;
  }
  const Start start = start_of(bytes);
  const Shape shape = shape_of(start);
  // An opcode follows the prefixes.
  sizes_[shape.number] = static_cast<std::uint8_t>(size - shape.prefixes);
  entry.key = key_of(start, size);
  entries_[place_of(entry.key)] = entry;
}

} // namespace sframe::code::amd64
