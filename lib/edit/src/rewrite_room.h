// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: how the program header table gets room for two more entries, without leaving its place at the
// start of the file. Tried in this order:
//
// 1. Zeros, or patchelf's filler, follow the table: it grows.
// 2. The parts that follow move, as in patchelf: .interp and notes move up after the table; tables that
//    only DT_ entries point to (.gnu.hash, .dynsym and others), as few as needed, go to the new PT_LOAD.
//    The build ID stays in the first page: the only page of a file that the kernel puts into cores.
//    In ET_EXEC, the old place of the tables becomes a section, `.moved_tables` (rewrite_layout.h).
// 3. ET_EXEC with free addresses below it: a page is put before the first segment, with the headers and the
//    notes. All else keeps its address and is later in the file; so do the linker's own headers, which become
//    a section, `.linker_headers`.
// 4. As 2, but notes go to the new PT_LOAD too.
//
// Else the table moves to the new PT_LOAD (rewrite_layout.h), which does not survive all tools.
//
// Only parts that are known completely move: sections of known types or names, the segments PT_INTERP,
// PT_NOTE and PT_GNU_PROPERTY, the entries of .dynamic. A note of another name, or one with a symbol in it,
// stays: code may refer to it.

#pragma once

#include "rewrite_layout.h"

#include "sframe/address.h"

namespace sframe::edit {

/// Sets room, table_offset, table_end, shift, max_load_align and blocks, except for the new places of to_load
/// blocks. Requires layout.segments and layout.extended; all parts that stay must be in the file
/// (find_parts). `first`: the PT_LOAD with the lowest address. Linear in headers, symbols and the bytes of
/// the first segment.
void find_room(const elf::Image& image, const HeaderTables& tables, const OldSection& old,
               const elf::Segment& first, RewriteLayout& layout);

/// The section of PT_DYNAMIC, if it is loaded and has a header; else nullptr. Linear in the headers.
const elf::SectionHeader* dynamic_section(const elf::Image& image);

/// The DT_ tag with the address of a dynamic table of this section type; 0 for others.
std::uint64_t dynamic_tag(std::uint32_t section_type, std::uint64_t flags);

// Below, an AddressRange is one of file offsets.

inline AddressRange file_range(const elf::SectionHeader& section) {
  return {section.offset, section.size};
}
inline AddressRange file_range(const elf::Segment& segment) {
  return {segment.offset, segment.file_size};
}

inline bool in_file(const elf::SectionHeader& section) {
  return section.type != elf::sht_nobits && section.type != elf::sht_null && section.size != 0;
}

/// True if [offset, end) of the file is all zeros.
bool all_zero(const elf::Image& image, std::uint64_t offset, std::uint64_t end);

inline constexpr std::uint64_t elf_header_size = 64;
inline constexpr std::uint64_t program_entry_size = 56;
inline constexpr std::uint64_t section_entry_size = 64;

} // namespace sframe::edit
