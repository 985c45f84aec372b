// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/object.h"

#include "sframe/address.h"

#include <algorithm>

namespace sframe::elf {

namespace {

/// Not 0, so that an unrelocated field, which stays 0, is not mistaken for an address in a section.
constexpr std::uint64_t first_address = 0x1000;
constexpr std::uint64_t last_address = 0x7fffffff;
constexpr std::uint64_t max_align = 0x10000; ///< larger alignments are for pages, not for their contents

} // namespace

Image Image::with_addresses(std::span<const std::uint64_t> addresses) const {
  Image moved = *this;
  for (std::size_t i = 0; i < moved.sections_.size(); ++i) moved.sections_[i].address = addresses[i];
  moved.extents_.clear();
  moved.index_extents();
  return moved;
}

Result<ObjectLayout> ObjectLayout::make(const Image& object) {
  std::vector<std::uint64_t> addresses(object.sections().size());
  std::vector<std::uint32_t> placed;
  std::uint64_t at = first_address;
  for (const SectionHeader& section : object.sections()) {
    if (!section.allocated() || section.type == sht_nobits || section.type == sht_null) continue;
    const std::uint64_t file_size = object.bytes().size();
    if (section.offset > file_size || section.size > file_size - section.offset)
      return fail("section runs past the end of the file", section.name);
    at = align_up(at, valid_align(section.align, max_align));
    if (section.size > last_address - std::min(at, last_address))
      return fail("loadable sections exceed 2 GiB", section.name);
    addresses[section.index] = at;
    placed.push_back(section.index);
    at += section.size + 1;
  }
  ObjectLayout layout(object.with_addresses(addresses));
  layout.placed_ = std::move(placed);
  layout.end_ = align_up(at, 8);
  return layout;
}

std::optional<ObjectLayout::Location> ObjectLayout::locate(std::uint64_t address) const {
  const auto address_of = [&](std::uint32_t index) { return image_.sections()[index].address; };
  const auto after = std::ranges::upper_bound(placed_, address, {}, address_of);
  if (after == placed_.begin()) return std::nullopt;
  const SectionHeader& section = image_.sections()[*std::prev(after)];
  if (address - section.address > section.size) return std::nullopt;
  return Location{section.index, address - section.address};
}

} // namespace sframe::elf
