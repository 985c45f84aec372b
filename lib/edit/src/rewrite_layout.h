// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the places of a new section, its segments and the headers in a linked file.
//
//   0 .. loaded_end       all loaded parts, and the bytes between them: addresses stay, file offsets too,
//                         unless a page is put before the file (rewrite_room.h)
//   padding               up to a page
//   load_offset ..        the new PT_LOAD: sections moved to make room for the program headers, then .sframe
//   tail                  unloaded parts (symbols, debug information), in one piece
//                         .shstrtab, section header table
//
// Package tools depend on this order. libelf (eu-strip, eu-elfcompress, debugedit) writes zeros over all
// bytes from the first section's end to the last one's that no section covers: the program headers must stay
// at the start. dwz requires all loaded sections before all others, in the section header table too. eu-strip
// keeps the offsets of loaded sections, so a section after the debug information would keep its hole.
//
// Two more program headers are needed; rewrite_room.h describes how the table gets room. If there is none, it
// moves into the new PT_LOAD. How a program then finds its headers (AT_PHDR) depends on the kernel: Linux
// 5.18 and later look for the PT_LOAD that has the file offset e_phoff; older ones, and emulators, take
// e_phoff as an offset from where the first PT_LOAD would have file offset 0. Both give the right address if
// the distance from the new PT_LOAD's offset to its address equals the first one's. Addresses are mostly
// ahead of offsets (.bss, gaps between segments), so that takes padding: up to max_padding. If more is
// needed, only later kernels find the headers. Shared objects do not depend on it, as dynamic linkers read
// e_phoff from the file.
//
// GNU objcopy and strip build segments from the sections in them. If .sframe is removed and the segment has
// no other section, they drop the moved table with it, and the program cannot start. So a section of 8 bytes,
// the anchor, follows a moved table: it belongs to the program headers, not to .sframe, and stays.
//
// A second run recognises this layout: the last PT_LOAD, read-only, with .sframe at its end. Its other
// contents stay; .sframe, and a table that moved there, are ignored in all computations, so that a second run
// gives the same file.

#pragma once

#include "sframe/edit/rewrite.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sframe::edit {

/// The fields of the ELF header that locate the tables.
struct HeaderTables {
  std::uint64_t program_offset = 0, section_offset = 0;
  std::uint32_t program_count = 0, section_count = 0;
  std::uint32_t names_index = 0; ///< e_shstrndx
};

/// An existing .sframe in the file.
struct OldSection {
  const elf::SectionHeader* section = nullptr; ///< nullptr: it has no section header
  const elf::Segment* segment = nullptr;       ///< PT_GNU_SFRAME
  const elf::Segment* load = nullptr;          ///< the last PT_LOAD, if .sframe is, or was, at its end
  const elf::SectionHeader* anchor = nullptr;  ///< in `load`
  bool has_table = false;                      ///< the program headers are in `load`
  std::uint64_t kept_end = 0; ///< end of the other contents of `load`; load->offset if there are none
  std::uint64_t address = 0, offset = 0, size = 0; ///< its place; size 0: none
};

inline constexpr std::uint64_t section_align = 8; ///< of .sframe

inline constexpr std::string_view anchor_name = ".moved_phdrs";
inline constexpr std::uint64_t anchor_size =
    8; ///< zeros; present without a header in files without section headers

/// A section that covers bytes at the start of the image that no other section describes, so that no tool
/// reuses them.
struct CoverSection {
  std::string_view name;
  std::uint64_t offset = 0, address = 0, size = 0; ///< in the new file
};

/// If a page is put before the file, the linker's own headers stay at the address of `__ehdr_start`: the C
/// library of a static program reads them if the kernel (or an emulator) does not provide AT_PHDR.
inline constexpr std::string_view linker_headers_name = ".linker_headers";

/// The place of a moved table in an executable with fixed addresses. patchelf puts a longer .dynamic there,
/// which the dynamic linker cannot write to; before SHT_PROGBITS it uses a new page, which is writable.
inline constexpr std::string_view moved_tables_name = ".moved_tables";

/// Bytes of the image that move to another address together: sections, and the segments that describe them.
struct MovedBlock {
  enum class Kind : std::uint8_t { note, interpreter, dynamic_table };
  Kind kind{};
  bool has_build_id = false;
  std::uint64_t offset = 0, size = 0; ///< in the old file
  std::uint64_t address = 0;          ///< old address
  std::uint64_t align = 1;
  std::vector<std::uint32_t> sections; ///< by number
  bool to_load = false;                ///< goes into the new PT_LOAD; else it stays near the program headers
  std::uint64_t new_offset = 0, new_address = 0;

  bool holds(std::uint64_t at, std::uint64_t length) const {
    return at >= offset && at <= offset + size && offset + size - at >= length;
  }
};

/// How the program headers got room, from the most to the least compatible with tools.
enum class HeaderRoom : std::uint8_t {
  there,     ///< by zeros after them
  made,      ///< by moving what followed them
  prepended, ///< by a page before the first segment
  moved,     ///< by moving them to the new segment
};

struct RewriteLayout {
  static constexpr std::uint64_t max_padding = std::uint64_t(8) << 20;
  static constexpr std::uint64_t max_align = std::uint64_t(16) << 20; ///< also the maximum padding

  std::vector<std::uint32_t> segments;    ///< numbers of the segments that stay, in order
  std::size_t load_position = 0;          ///< a new PT_LOAD goes before this element of `segments`
  const elf::Segment* extended = nullptr; ///< instead of a new PT_LOAD: the existing segment that is extended
  std::optional<Room> inside;             ///< instead of a new PT_LOAD: in the old file
  std::optional<UnnamedSection> unnamed;  ///< in the old file
  std::uint64_t loaded_end = 0;           ///< in the old file
  std::uint64_t tail_start = 0, tail_end = 0; ///< in the old file
  std::uint64_t tail_align = 1;               ///< it moves by a multiple of this
  std::uint64_t align = 0;

  HeaderRoom room = HeaderRoom::there;
  std::uint64_t shift = 0;                    ///< bytes put before the start of the file
  std::uint64_t max_load_align = 0;           ///< if `shift`: larger alignments of PT_LOADs become this
  std::optional<CoverSection> cover;          ///< set if `shift`
  std::vector<MovedBlock> blocks;             ///< the blocks that move
  std::uint64_t table_offset = 0;             ///< of the program headers
  std::uint64_t table_end = 0;                ///< end of the room for the table and the blocks after it
  std::optional<std::uint64_t> table_address; ///< nothing: not in a PT_LOAD
  std::uint64_t anchor_offset = 0, anchor_address = 0; ///< only with HeaderRoom::moved
  std::uint64_t load_offset = 0, load_address = 0;
  std::uint64_t section_offset = 0, section_address = 0;

  std::uint64_t table_count() const { return segments.size() + (extended || inside ? 1 : 2); }
  bool has_tail() const { return tail_start != tail_end; }
  /// The tail's offset for that size of the section.
  std::uint64_t tail_offset(std::uint64_t section_size) const {
    if (inside) return tail_start + shift;
    const std::uint64_t end = section_offset + section_size;
    return end + (tail_start - end) % tail_align;
  }
};

/// Reads the locations of the tables. Fails for files that cannot be rewritten: damaged headers, other file
/// types, numbers of headers beyond 16 bits.
Result<HeaderTables> read_tables(const elf::Image& image);

/// Finds the section to replace; all empty if there is none. Fails if there are several. PT_GNU_SFRAME counts
/// as a section only in a file without section headers: strippers remove the section and keep the segment.
Result<OldSection> find_old(const elf::Image& image, const HeaderTables& tables);

/// Fails if a section or segment that stays runs past the end of the file: it was truncated.
Result<void> check_complete(const elf::Image& image, const HeaderTables& tables, const OldSection& old);

/// True if the old section is between other parts of the image, as linkers put it, and shares no bytes, so
/// that they can be overwritten.
bool has_separate_bytes(const elf::Image& image, const HeaderTables& tables, const OldSection& old);

/// True if, in addition, both kinds of header agree on the place, so that a new section can take it.
bool is_replaceable(const elf::Image& image, const HeaderTables& tables, const OldSection& old);

/// Computes the layout.
Result<RewriteLayout> lay_out(const elf::Image& image, const HeaderTables& tables, const OldSection& old);

/// The layout with the section, and with what makes room for its program header, in unused bytes. Fails if
/// there is an old section, or if the program headers would move.
Result<RewriteLayout> lay_out_inside(const elf::Image& image, const HeaderTables& tables,
                                     const OldSection& old, const Room& room);

} // namespace sframe::edit
