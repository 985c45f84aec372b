// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of linked files besides .sframe: sections that get smaller where they are, and a file without the
// bytes that become free.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/edit/edit.h"
#include "sframe/elf/image.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::edit {

/// The new place of a section.
struct PlacedSection {
  std::uint32_t index = 0;
  std::uint64_t offset = 0, address = 0, size = 0;
};

/// The file with other bytes from `offset` on, and with the headers of the sections in them changed: section
/// headers, segments that described exactly such a section, and symbols at a section's start or, of 4 bytes
/// or less, before its end (`__FRAME_END__`). All else keeps its place. Fails if another symbol is in one of
/// the sections. Linear in the headers and symbols.
Result<Edit> replace_sections(const elf::Image& image, std::uint64_t offset, std::vector<std::byte> bytes,
                              std::span<const PlacedSection> sections);

/// The file without the unused bytes from `unused` to the end of their PT_LOAD, as far as all that follows
/// can move by whole pages; no address changes. Nothing if that is no page, or something else uses the
/// bytes. Linear in the headers.
std::optional<Edit> cut_segment(const elf::Image& image, std::uint64_t unused);

} // namespace sframe::edit

#pragma GCC visibility pop
