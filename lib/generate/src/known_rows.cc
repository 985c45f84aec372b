// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "known_rows.h"

#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace sframe::generate {

namespace {

/// Bytes of .eh_frame per place: an FDE of a big program takes 50, and every third is new.
constexpr std::size_t bytes_per_place = 128;

} // namespace

KnownRows::KnownRows(const cfi::CfiSection& section)
    : section_(section), table_(section.bytes().size() / bytes_per_place + 1) {}

const KnownRows::Entry* KnownRows::find(const cfi::Fde& fde) {
  const auto bytes = fde.instructions;
  key_ = {};
  if (bytes.size() > std::numeric_limits<decltype(key_.size)>::max()) return nullptr;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::uint64_t hash = std::hash<std::string_view>()(text) + fde.cie.offset;
  key_ = {.cie = static_cast<std::uint32_t>(fde.cie.offset),
          .offset = static_cast<std::uint32_t>(fde.instructions_offset),
          .size = static_cast<std::uint16_t>(bytes.size()),
          .tag = static_cast<std::uint16_t>(hash)};
  place_ = (hash >> 32) * table_.size() >> 32;
  const Slot& slot = table_[place_];
  return is_equal(slot.key) ? &slot.entry : nullptr;
}

bool KnownRows::is_equal(const Key& other) const {
  return other.size != 0 && other.tag == key_.tag && other.cie == key_.cie && other.size == key_.size &&
         std::memcmp(section_.bytes().data() + other.offset, section_.bytes().data() + key_.offset,
                     key_.size) == 0;
}

} // namespace sframe::generate
