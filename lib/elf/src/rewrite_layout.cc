// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite_layout.h"

#include "llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <limits>
#include <span>

namespace sframe::elf {

namespace {

constexpr std::uint64_t header_size = sizeof(llvm::ELF::Elf64_Ehdr);
constexpr std::uint64_t entry_size = sizeof(llvm::ELF::Elf64_Phdr);
constexpr std::uint64_t section_entry_size = sizeof(llvm::ELF::Elf64_Shdr);
constexpr std::uint64_t page = 0x1000; ///< the least of all machines
/// Addresses beyond are the kernel's; below, sums of two numbers do not overflow.
constexpr std::uint64_t max_address = std::uint64_t(1) << 62;

struct Range {
  std::uint64_t start, end;

  bool contains(std::uint64_t offset, std::uint64_t size) const {
    return offset >= start && offset <= end && end - offset >= size;
  }
  bool overlaps(std::uint64_t offset, std::uint64_t size) const {
    return size != 0 && offset < end && (offset >= start || start - offset < size);
  }
};

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

Range file_range(const Segment& segment) {
  return {segment.offset, segment.offset + segment.file_size};
}

bool in_file(const Section& section) {
  return section.type != sht_nobits && section.type != sht_null && section.size != 0;
}

/// True where nothing but zeros is at [offset, end) of the file.
bool all_zero(const Image& image, std::uint64_t offset, std::uint64_t end) {
  const auto bytes = image.bytes().subspan(offset, end - offset);
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(0); });
}

/// True where the segment is there for nothing but the old section and moved program headers, or what objcopy
/// left of them, behind all other segments.
bool is_own_load(const Image& image, const Tables& tables, const OldSection& old, const Segment& load) {
  const Range range = file_range(load);
  if (load.flags != pf_r || load.file_size != load.memory_size) return false;
  if (!Range{0, image.bytes().size()}.contains(load.offset, load.file_size)) return false;
  const bool has_table = tables.program_offset == load.offset;
  const bool has_section = old.size != 0 && old.address - load.address == old.offset - load.offset;
  if (!has_section && !(has_table && old.anchor)) return false;
  // In this order, and nothing else: the table and its anchor, the section.
  std::uint64_t end = load.offset;
  if (has_table) end += tables.program_count * entry_size + anchor_size;
  if (has_section && old.offset != end) return false;
  if (has_section) end += old.size;
  if (has_section ? end != range.end : end > range.end || !all_zero(image, end, range.end)) return false;
  for (const Segment& other : image.segments()) {
    if (&other == &load || &other == old.segment) continue;
    if (other.type == pt_load && other.address >= load.address) return false;
    const bool is_table = other.type == llvm::ELF::PT_PHDR && other.offset == tables.program_offset;
    if (!is_table && range.overlaps(other.offset, other.file_size)) return false;
  }
  return std::ranges::none_of(image.sections(), [&](const Section& other) {
    const bool ours = &other == old.section || (has_table && &other == old.anchor);
    return !ours && in_file(other) && range.overlaps(other.offset, other.size);
  });
}

/// The end of all that stays, or a Problem where something runs past the file's end. Program headers,
/// and an old section that is loaded, are in a PT_LOAD if they stay; else they go.
Result<std::uint64_t> find_content_end(const Image& image, const Tables& tables, const OldSection& old) {
  std::uint64_t end = header_size;
  const Range file{0, image.bytes().size()};
  for (const Segment& segment : image.segments()) {
    if (&segment == old.load || segment.type == pt_gnu_sframe || segment.type == llvm::ELF::PT_PHDR) continue;
    if (segment.file_size == 0) continue;
    if (!file.contains(segment.offset, segment.file_size))
      return fail("a segment runs past the end of the file", {}, segment.offset);
    end = std::max(end, segment.offset + segment.file_size);
  }
  for (const Section& section : image.sections()) {
    if (!in_file(section) || section.index == tables.names_index) continue;
    if (&section == old.section || &section == old.anchor) continue;
    if (!file.contains(section.offset, section.size))
      return fail("section runs past the end of the file", section.name);
    end = std::max(end, section.offset + section.size);
  }
  return end;
}

/// Bytes behind the content that are neither zero nor in one of the ranges that are made anew.
std::optional<std::uint64_t> find_unknown_bytes(const Image& image, const Tables& tables,
                                                const OldSection& old, std::uint64_t content_end) {
  std::vector<Range> known{
      {tables.program_offset, tables.program_offset + tables.program_count * entry_size}};
  if (tables.section_count != 0) {
    const Section& names = image.sections()[tables.names_index];
    known.push_back(
        {tables.section_offset, tables.section_offset + tables.section_count * section_entry_size});
    known.push_back({names.offset, names.offset + names.size});
  }
  if (old.load) known.push_back(file_range(*old.load));
  if (old.section && in_file(*old.section))
    known.push_back({old.section->offset, old.section->offset + old.section->size});
  std::ranges::sort(known, {}, &Range::start);
  std::uint64_t at = content_end;
  const auto bytes = image.bytes();
  for (const Range& range : known) {
    for (; at < std::min<std::uint64_t>(range.start, bytes.size()); ++at)
      if (bytes[at] != std::byte(0)) return at;
    at = std::max(at, range.end);
  }
  for (; at < bytes.size(); ++at)
    if (bytes[at] != std::byte(0)) return at;
  return std::nullopt;
}

/// What the PT_LOADs that stay have in common; a Problem where loaders would not take them.
struct Loads {
  const Segment* first = nullptr;
  std::uint64_t end = 0; ///< of the last one in memory
  std::uint64_t align = page;
};

/// The section of a Linux kernel that has its set-up code, on every machine; modules have it too, but nobody
/// loads those by segments. Addresses do not give a kernel away: s390x's are low.
constexpr std::string_view kernel_section = ".init.text";

Result<Loads> check_loads(const Image& image, Layout& layout) {
  Loads loads;
  if (image.find_section(kernel_section))
    return fail("this is a kernel, whose boot loader does not expect another segment (--emit=section makes the "
                "section alone)",
                kernel_section);
  for (std::size_t i = 0; i < layout.segments.size(); ++i) {
    const Segment& segment = image.segments()[layout.segments[i]];
    if (segment.type != pt_load) continue;
    if (segment.address > max_address)
      return fail("a segment is at a kernel's addresses; nothing can be loaded behind it", {},
                  segment.offset);
    if (segment.memory_size > max_address || segment.memory_size < segment.file_size)
      return fail("a segment has no sensible place in memory", {}, segment.offset);
    if (segment.address < loads.end) return fail("segments are not in the order of their addresses");
    if (!loads.first) loads.first = &segment;
    loads.end = segment.address + segment.memory_size;
    if (segment.align > Layout::max_align || (segment.align & (segment.align - 1)) != 0)
      return fail("a segment's alignment is no power of 2, or too large", {}, segment.offset);
    loads.align = std::max(loads.align, segment.align);
    layout.load_position = i + 1;
  }
  if (!loads.first) return fail("no segment is loaded");
  return loads;
}

/// True where the table can grow to `size` bytes where it is: nothing but zeros in the same segment follows.
bool has_room(const Image& image, const Tables& tables, const OldSection& old, std::uint64_t size) {
  if (tables.section_count == 0) return false; // what the bytes behind the table are, nobody says
  const std::uint64_t offset = tables.program_offset;
  const std::uint64_t old_size = tables.program_count * entry_size;
  if (old.load && file_range(*old.load).contains(offset, 1)) return false;
  const bool loaded = std::ranges::any_of(image.segments(), [&](const Segment& segment) {
    return segment.type == pt_load && file_range(segment).contains(offset, size);
  });
  if (!loaded) return false;
  const auto in_the_way = [&](std::uint64_t at, std::uint64_t length) {
    return Range{offset, offset + size}.overlaps(at, length);
  };
  for (const Section& section : image.sections())
    if (section.type != sht_null && in_the_way(section.offset, std::max<std::uint64_t>(section.size, 1)))
      return false;
  for (const Segment& segment : image.segments())
    if (segment.type != pt_load && segment.type != llvm::ELF::PT_PHDR && segment.offset != 0 &&
        in_the_way(segment.offset, segment.file_size))
      return false;
  if (in_the_way(0, header_size) ||
      in_the_way(tables.section_offset, tables.section_count * section_entry_size))
    return false;
  if (size <= old_size) return true;
  return all_zero(image, offset + old_size, offset + size);
}

/// The place of the new PT_LOAD: in the file behind the content, in memory behind all segments.
Result<void> place(const Loads& loads, Layout& layout) {
  layout.align = loads.align;
  const std::uint64_t offset = align_up(layout.content_end, loads.align);
  // GNU strip and objcopy (2.40 does, 2.44 does not) move the start of a segment that has the program headers
  // down by less than a page: the page below must be free.
  const std::uint64_t free_below = layout.table_moves ? loads.align : 0;
  const std::uint64_t address = align_up(loads.end, loads.align) + free_below;
  layout.load_offset = offset;
  layout.load_address = address;
  const std::uint64_t distance =
      loads.first->address - loads.first->offset; // may wrap around: it is added back
  if (layout.table_moves && distance % loads.align == 0) {
    const std::uint64_t wanted = address - distance;
    if (wanted <= offset) {
      layout.load_address = offset + distance;
    } else if (wanted - offset <= Layout::max_padding) {
      layout.load_offset = wanted;
    }
  }
  std::uint64_t headers_size = 0; ///< and the anchor's
  if (layout.table_moves) {
    const std::uint64_t table_size = layout.table_count() * entry_size;
    layout.table_offset = layout.load_offset;
    layout.table_address = layout.load_address;
    layout.anchor_offset = layout.load_offset + table_size;
    layout.anchor_address = layout.load_address + table_size;
    headers_size = table_size + anchor_size;
  }
  layout.section_offset = layout.load_offset + headers_size;
  layout.section_address = layout.load_address + headers_size;
  if (layout.load_address < loads.end || layout.section_address > max_address * 2)
    return fail("no room in the address space behind the last segment");
  return {};
}

/// True where the old section has its bytes for itself: they are loaded where its headers say, and no other
/// section, nor segment but those that hold whole parts of the image, nor any table has a part of them.
bool alone_in_place(const Image& image, const Tables& tables, const OldSection& old) {
  const Range place{old.offset, old.offset + old.size};
  const auto loaded = image.read(old.address, old.size);
  if (!loaded || loaded->data() != image.bytes().data() + old.offset) return false;
  if (place.overlaps(0, header_size) ||
      place.overlaps(tables.program_offset, tables.program_count * entry_size) ||
      place.overlaps(tables.section_offset, tables.section_count * section_entry_size))
    return false;
  for (const Section& other : image.sections())
    if (&other != old.section && in_file(other) && place.overlaps(other.offset, other.size)) return false;
  return std::ranges::none_of(image.segments(), [&](const Segment& other) {
    const bool holds = file_range(other).contains(old.offset, old.size);
    return &other != old.segment && !holds && place.overlaps(other.offset, other.file_size);
  });
}

/// True where all sections' names end in the table: a name that is added behind it must not complete another.
bool has_sound_names(const Image& image, const Tables& tables, const Section& names) {
  const auto table = image.bytes().subspan(names.offset, names.size);
  if (table.empty() || table.back() != std::byte(0)) return false;
  return with_types(image.byte_order(), [&]<class Types>(Types) {
    const auto headers =
        table_at<typename Types::Shdr>(image.bytes(), tables.section_offset, tables.section_count);
    return headers && std::ranges::all_of(*headers, [&](const auto& h) { return h.sh_name < names.size; });
  });
}

} // namespace

Result<Tables> read_tables(const Image& image) {
  using namespace llvm::ELF;
  if (image.type() != et_exec && image.type() != et_dyn)
    return fail("neither an executable nor a shared object");
  if (!image.problems().empty()) return fail("damaged headers: " + image.problems().front().what);
  Tables tables;
  std::uint16_t entry = 0;
  with_types(image.byte_order(), [&]<class Types>(Types) {
    const auto& header = table_at<typename Types::Ehdr>(image.bytes(), 0, 1)->front();
    tables = {header.e_phoff, header.e_shoff, header.e_phnum, header.e_shnum, header.e_shstrndx};
    entry = header.e_shentsize;
  });
  if (tables.program_count == 0) return fail("no program headers");
  if (tables.program_count >= PN_XNUM - 2) return fail("too many program headers");
  if (tables.program_offset % 8 != 0) return fail("program headers at an odd offset");
  const Range programs{tables.program_offset, tables.program_offset + tables.program_count * entry_size};
  if (programs.overlaps(0, header_size)) return fail("program headers overlap the ELF header");
  if (image.sections().empty()) {
    tables.section_offset = tables.section_count = tables.names_index = 0;
    return tables;
  }
  if (tables.section_count != image.sections().size() || tables.section_count >= SHN_LORESERVE - 2)
    return fail("too many section headers");
  if (entry != section_entry_size) return fail("section headers of an unknown size");
  const std::uint64_t section_table_size = tables.section_count * section_entry_size;
  if (tables.section_offset < header_size || programs.overlaps(tables.section_offset, section_table_size))
    return fail("section headers overlap other headers");
  if (tables.names_index == 0 || tables.names_index >= tables.section_count) return fail("no section names");
  const Section& names = image.sections()[tables.names_index];
  if (!Range{0, image.bytes().size()}.contains(names.offset, names.size))
    return fail("section runs past the end of the file", names.name);
  if (names.allocated() || names.type != sht_strtab || names.flags & shf_compressed)
    return fail("section names in a section that cannot be moved", names.name);
  if (!has_sound_names(image, tables, names))
    return fail("a section's name is not among the names", names.name);
  return tables;
}

Result<OldSection> find_old(const Image& image, const Tables& tables) {
  OldSection old;
  for (const Section& section : image.sections()) {
    if (section.name == anchor_name && section.size == anchor_size) old.anchor = &section;
    if (section.name != ".sframe" && section.type != sht_gnu_sframe) continue;
    if (old.section) return fail("several .sframe sections", section.name);
    if (section.type != sht_gnu_sframe && section.type != sht_progbits && section.type != sht_nobits)
      return fail("a section of that name is of another type", section.name);
    old.section = &section;
  }
  for (const Segment& segment : image.segments()) {
    if (segment.type != pt_gnu_sframe) continue;
    if (old.segment) return fail("several segments PT_GNU_SFRAME");
    old.segment = &segment;
  }
  if (old.section && in_file(*old.section) && old.section->allocated()) {
    old.address = old.section->address;
    old.offset = old.section->offset;
    old.size = old.section->size;
  } else if (image.sections().empty() && old.segment) {
    old.address = old.segment->address;
    old.offset = old.segment->offset;
    old.size = old.segment->file_size;
  }
  if (!Range{0, image.bytes().size()}.contains(old.offset, old.size))
    return fail("section runs past the end of the file", ".sframe");
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load && is_own_load(image, tables, old, segment)) old.load = &segment;
  const bool is_inside = old.load && old.anchor && in_file(*old.anchor) &&
                         file_range(*old.load).contains(old.anchor->offset, old.anchor->size);
  if (!is_inside) old.anchor = nullptr;
  return old;
}

Result<void> check_complete(const Image& image, const Tables& tables, const OldSection& old) {
  const auto end = find_content_end(image, tables, old);
  if (!end) return std::unexpected(end.error());
  return {};
}

bool has_own_place(const Image& image, const Tables& tables, const OldSection& old) {
  return old.size != 0 && !old.load && alone_in_place(image, tables, old);
}

bool is_replaceable(const Image& image, const Tables& tables, const OldSection& old) {
  if (!old.segment || old.address % section_align != 0 || !has_own_place(image, tables, old)) return false;
  const Segment& segment = *old.segment;
  // GNU ld reserves room before it merges: its segment may be larger than the section.
  return segment.address == old.address && segment.offset == old.offset && segment.file_size >= old.size;
}

Result<Layout> lay_out(const Image& image, const Tables& tables, const OldSection& old) {
  Layout layout;
  for (std::uint32_t i = 0; i < image.segments().size(); ++i) {
    const Segment& segment = image.segments()[i];
    if (&segment != old.load && segment.type != pt_gnu_sframe) layout.segments.push_back(i);
  }
  const auto content_end = find_content_end(image, tables, old);
  if (!content_end) return std::unexpected(content_end.error());
  layout.content_end = *content_end;
  if (const auto unknown = find_unknown_bytes(image, tables, old, *content_end))
    return fail("data that belongs to no section or segment follows the image, and would be lost", {},
                *unknown);
  const auto loads = check_loads(image, layout);
  if (!loads) return std::unexpected(loads.error());
  layout.table_offset = tables.program_offset;
  layout.table_moves = !has_room(image, tables, old, layout.table_count() * entry_size);
  if (const auto placed = place(*loads, layout); !placed) return std::unexpected(placed.error());
  return layout;
}

} // namespace sframe::elf
