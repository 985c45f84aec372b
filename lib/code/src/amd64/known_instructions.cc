// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd64/known_instructions.h"

#include <algorithm>
#include <new>

namespace sframe::code::amd64 {

KnownInstructions::KnownInstructions()
    : entries_(static_cast<Entry*>(std::calloc(std::size_t{1} << place_bits, sizeof(Entry)))) {
  if (!entries_) throw std::bad_alloc();
}

void KnownInstructions::add(std::span<const std::byte> bytes, const ZydisDecodedInstruction& raw,
                            const Instruction& instruction, std::span<const Effect> effects) {
  constexpr unsigned relative_to_rip = 5;
  const bool has_address = (raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) && raw.raw.modrm.mod == 0 &&
                           raw.raw.modrm.rm == relative_to_rip;
  if (has_address || effects.size() > max_effects) return;
  Entry entry{.key = {}, .instruction = instruction, .effects = {}};
  unsigned size = raw.length;
  if (const auto& distance = raw.raw.imm[0]; distance.is_relative) {
    const unsigned distance_size = distance.size / 8;
    if ((distance_size != 1 && distance_size != 4) || distance.offset + distance_size != size) return;
    entry.distance_size = static_cast<std::uint8_t>(distance_size);
    size = distance.offset;
    entry.instruction.target -= instruction.address + distance_of(bytes, raw.length, distance_size);
  }
  entry.instruction.address = 0;
  entry.num_effects = static_cast<std::uint8_t>(effects.size());
  std::ranges::copy(effects, entry.effects.begin());
  const Start start = start_of(bytes);
  const Shape shape = shape_of(start);
  if (size <= shape.prefixes) return; // a prefix that is none
  sizes_[shape.number] = static_cast<std::uint8_t>(size - shape.prefixes);
  entry.key = key_of(start, size);
  entries_[place_of(entry.key)] = entry;
}

} // namespace sframe::code::amd64
