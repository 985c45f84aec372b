// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where a new section, its segments and the headers go in a linked file.
//
//   0 .. content_end      everything there is but section headers and their names: not a byte of it changes,
//                         except the ELF header, the program header table where it stays, and the place of an
//                         old .sframe among them, which becomes zeros
//   padding               up to a page
//   load_offset ..        the new PT_LOAD: program header table (where it had to move) and its anchor,
//   .sframe
//                         .shstrtab, section header table: not loaded
//
// Two program headers more are needed. Where the table has room behind it, it stays. Elsewhere it moves into
// the new PT_LOAD. How a program then finds its headers (AT_PHDR) depends on the kernel: Linux 5.18 and later
// look for the PT_LOAD that has the file offset e_phoff; older ones, and emulators, take e_phoff as an offset
// from where the first PT_LOAD would have file offset 0. Both are right if the new PT_LOAD's address is as
// far from its offset as the first one's is. Addresses are mostly ahead of offsets (.bss, gaps between
// segments), so that takes padding: up to max_padding. Beyond, only the later kernels' way works; shared
// objects do not depend on it, as dynamic linkers read e_phoff from the file.
//
// GNU objcopy and strip build segments from the sections in them. If .sframe is removed and nothing else is
// there, they drop what the moved table stands in, and the program cannot start. So a section of 8 bytes, the
// anchor, stands behind a table that moved: it belongs to the program headers, not to .sframe, and stays.
//
// What was made this way can be undone: the last PT_LOAD, read-only, with nothing in it but .sframe, the
// program headers and their anchor. Everything here is computed as if it were not there, so that a second run
// gives the same file.

#pragma once

#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sframe::elf {

/// The fields of the ELF header that say where the tables are.
struct Tables {
  std::uint64_t program_offset = 0, section_offset = 0;
  std::uint32_t program_count = 0, section_count = 0;
  std::uint32_t names_index = 0; ///< e_shstrndx
};

/// What is there of an earlier .sframe.
struct OldSection {
  const Section* section = nullptr; ///< nullptr: no section header for it
  const Segment* segment = nullptr; ///< PT_GNU_SFRAME
  const Segment* load = nullptr;    ///< the PT_LOAD that holds it, where that is there for nothing else
  const Section* anchor = nullptr;  ///< in `load`
  std::uint64_t address = 0, offset = 0, size = 0; ///< its place in the file; size 0: none
};

inline constexpr std::uint64_t section_align = 8; ///< of .sframe

inline constexpr std::string_view anchor_name = ".moved_phdrs";
inline constexpr std::uint64_t anchor_size =
    8; ///< zeros; there without a header in files without section headers

struct Layout {
  static constexpr std::uint64_t max_padding = std::uint64_t(8) << 20;
  static constexpr std::uint64_t max_align = std::uint64_t(16) << 20; ///< padding is at most this, too

  std::vector<std::uint32_t> segments; ///< numbers of the segments that stay, in order
  std::size_t load_position = 0;       ///< the new PT_LOAD goes before this element of `segments`
  std::uint64_t content_end = 0;
  std::uint64_t align = 0;
  bool table_moves = false;
  std::uint64_t table_offset = 0;                      ///< of the program headers
  std::uint64_t table_address = 0;                     ///< only where the table moves
  std::uint64_t anchor_offset = 0, anchor_address = 0; ///< the same
  std::uint64_t load_offset = 0, load_address = 0;
  std::uint64_t section_offset = 0, section_address = 0;

  std::uint64_t table_count() const { return segments.size() + 2; }
};

/// Reads where the tables are; a Problem for what cannot be rewritten: damaged headers, other file types,
/// numbers of headers beyond 16 bits.
Result<Tables> read_tables(const Image& image);

/// Finds the section that is to be replaced; all empty where there is none. A Problem where there are
/// several. PT_GNU_SFRAME counts as a section only in a file without section headers: strippers remove the
/// section and leave the segment.
Result<OldSection> find_old(const Image& image, const Tables& tables);

/// A Problem where a section or segment that stays runs past the end of the file: it was cut.
Result<void> check_complete(const Image& image, const Tables& tables, const OldSection& old);

/// True where the old section stands among other things of the image, as linkers put it, and nothing else has
/// a part of its bytes, so that they can be written over.
bool has_own_place(const Image& image, const Tables& tables, const OldSection& old);

/// True where, on top of that, both kinds of header agree on the place, so that a new section can take it.
bool is_replaceable(const Image& image, const Tables& tables, const OldSection& old);

/// Decides where everything goes.
Result<Layout> lay_out(const Image& image, const Tables& tables, const OldSection& old);

} // namespace sframe::elf
