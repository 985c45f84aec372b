// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "known_rows.h"

#include "sframe/base/text.h"

#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace sframe::generate {

namespace {

/// Bytes of .eh_frame per place: an FDE of a big program takes 50, and every third is new.
constexpr std::size_t bytes_per_place = 128;

} // namespace

KnownRows::KnownRows(const cfi::CfiSection& section, std::uint64_t share)
    : section_(section), table_(share / bytes_per_place + 1) {}

KnownRows::Place KnownRows::place(const cfi::Fde& fde) const {
  const auto instructions = fde.instructions;
  Place place;
  if (instructions.size() > std::numeric_limits<decltype(place.size)>::max() ||
      section_.bytes().size() > std::numeric_limits<decltype(place.offset)>::max())
    return place;
  const std::string_view text = as_text(instructions);
  const std::uint64_t hash = std::hash<std::string_view>()(text) + fde.cie.offset;
  place.number = static_cast<std::uint32_t>((hash >> 32) * table_.size() >> 32);
  place.cie = static_cast<std::uint32_t>(fde.cie.offset);
  place.offset = static_cast<std::uint32_t>(fde.instructions_offset);
  place.size = static_cast<std::uint16_t>(instructions.size());
  place.tag = static_cast<std::uint16_t>(hash);
  __builtin_prefetch(&table_[place.number]);
  return place;
}

void KnownRows::expect(const Place& place) const {
  const Slot& slot = table_[place.number];
  if (slot.tag == place.tag) __builtin_prefetch(bytes(slot.offset));
}

const KnownRows::Entry* KnownRows::find(const Place& place) const {
  const Slot& slot = table_[place.number];
  const bool equal = slot.size != 0 && slot.tag == place.tag && slot.cie == place.cie &&
                     slot.size == place.size &&
                     std::memcmp(bytes(slot.offset), bytes(place.offset), place.size) == 0;
  return equal ? &slot.entry : nullptr;
}

} // namespace sframe::generate
