// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "known_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

namespace sframe::generate {

namespace {

/// Bytes of .eh_frame per place: an FDE of a big program takes 50, and every third is new.
constexpr std::size_t bytes_per_place = 128;

} // namespace

KnownRows::KnownRows(const cfi::CfiSection& section)
    : section_(section), table_(std::bit_ceil(section.bytes().size() / bytes_per_place + 1)) {}

const KnownRows::Entry* KnownRows::find(const cfi::Fde& fde) {
  const auto bytes = fde.instructions;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::uint64_t hash = std::hash<std::string_view>()(text) + fde.cie.offset;
  key_ = {static_cast<std::uint32_t>(fde.cie.offset), static_cast<std::uint32_t>(fde.instructions_offset),
          static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(hash >> 32)};
  place_ = hash & (table_.size() - 1);
  const Slot& slot = table_[place_];
  return is_equal(slot.key) ? &slot.entry : nullptr;
}

/// An empty slot's offset is that of a section's first entry, where no instructions are.
bool KnownRows::is_equal(const Key& other) const {
  return other.offset != 0 && other.tag == key_.tag && other.cie == key_.cie && other.size == key_.size &&
         std::memcmp(section_.bytes().data() + other.offset, section_.bytes().data() + key_.offset,
                     key_.size) == 0;
}

} // namespace sframe::generate
