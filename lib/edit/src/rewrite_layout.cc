// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First what the file has: read_tables() and find_old(). Then lay_out() decides, in this order: what stays
// and what is the tail (find_parts()), whether bytes would be lost that no header describes, room for the
// program headers (rewrite_room.cc), addresses (place()). Each property that a later step relies on is
// checked before, and a file without it is refused with a reason. All passes are linear in the headers, or in
// the bytes between the parts.
//
// is_sframe_load() recognises the segment of an earlier run: a read-only PT_LOAD at the highest address that
// has, in this order, the moved program headers and the anchor or sections that were moved, then .sframe, and
// zeros everywhere else. Tools may have changed it since:
//
//   nothing has changed                        .sframe is inside, at equal distances in file and memory
//   GNU strip or objcopy removed .sframe       the table and the anchor are left
//   LLVM's objcopy removed .sframe             both segments are left; PT_GNU_SFRAME has the place
//   strip emptied PT_GNU_SFRAME                the segment is left, with size 0

#include "rewrite_layout.h"

#include "rewrite_room.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/machine.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <span>
#include <utility>

namespace sframe::edit {

using namespace elf;

namespace {

/// A tail of at least this many bytes moves by whole pages, so that file systems can share its blocks.
constexpr std::uint64_t shared_tail = 0x10000;
constexpr std::uint64_t least_tail_align = 16;
/// Higher addresses belong to the kernel; below, the sum of two numbers does not overflow.
constexpr std::uint64_t max_address = std::uint64_t(1) << 62;

/// True if `load` is the last PT_LOAD and .sframe is, or was, the last thing in it: as written by this code,
/// or modified by objcopy. Then also records the rest of its contents.
bool is_sframe_load(const Image& image, const HeaderTables& tables, const Segment& load, OldSection& old) {
  AddressRange range = file_range(load);
  if (load.flags != pf_r || load.file_size != load.memory_size) return false;
  // LLVM's objcopy removes the section and keeps both segments. Its old bytes, if still in the file, are not
  // loaded.
  const bool was_at_end = old.size == 0 && old.segment && old.segment->file_size != 0 &&
                          range.contains(file_range(*old.segment)) &&
                          file_range(*old.segment).end() == range.end();
  if (was_at_end) {
    std::uint64_t end = range.start;
    for (const SectionHeader& section : image.sections())
      if (in_file(section) && section.allocated() && range.overlaps(file_range(section)))
        end = std::max(end, section.offset + section.size);
    if (end > old.segment->offset) return false;
    range = AddressRange::between(range.start, end);
  }
  if (!AddressRange{0, image.bytes().size()}.contains(range)) return false;
  const std::uint64_t table_size = tables.program_count * program_entry_size;
  // GNU strip 2.40 starts a segment with program headers in the page below them.
  const bool has_table = range.contains({tables.program_offset, table_size}) &&
                         all_zero(image, load.offset, tables.program_offset);
  const bool has_section = old.size != 0 && range.contains({old.offset, old.size}) &&
                           old.address - load.address == old.offset - load.offset;
  const bool has_anchor = has_table && old.anchor;
  const bool was_there =
      was_at_end || (old.size == 0 && old.segment &&
                     (old.segment->file_size == 0 || range.contains(file_range(*old.segment))));
  if (!has_section && !has_anchor && !was_there) return false;
  // Its other contents must be whole, and before .sframe.
  std::uint64_t kept_end = load.offset;
  const auto keep = [&](std::uint64_t offset, std::uint64_t size) {
    if (!range.overlaps({offset, size})) return true;
    if (!range.contains({offset, size})) return false;
    kept_end = std::max(kept_end, offset + size);
    return true;
  };
  for (const Segment& other : image.segments()) {
    if (&other == &load || &other == old.segment) continue;
    if (other.type == pt_load && other.address >= load.address) return false;
    const bool is_table = other.type == llvm::ELF::PT_PHDR && other.offset == tables.program_offset;
    if (!is_table && !keep(other.offset, other.file_size)) return false;
  }
  for (const SectionHeader& other : image.sections()) {
    if (&other == old.section || (has_table && &other == old.anchor) || !in_file(other)) continue;
    if (range.overlaps(file_range(other)) && !other.allocated()) return false;
    if (!keep(other.offset, other.size)) return false;
  }
  // Without section headers, the contents before .sframe are unknown.
  if (image.sections().empty() && has_section && !has_table) kept_end = std::max(kept_end, old.offset);
  if (has_table && kept_end != load.offset) return false;
  if (!has_table && AddressRange{tables.program_offset, table_size}.overlaps(file_range(load))) return false;
  const std::uint64_t headers_end = has_table ? tables.program_offset + table_size + anchor_size : kept_end;
  if (has_section && old.offset < headers_end) return false;
  // All other bytes must be zeros.
  std::uint64_t at = std::min(headers_end, range.end());
  if (has_section) {
    if (!all_zero(image, at, old.offset)) return false;
    at = old.offset + old.size;
  }
  if (!all_zero(image, at, range.end())) return false;
  old.has_table = has_table;
  old.kept_end = kept_end;
  return true;
}

/// Finds the loaded part and the tail; fails if something runs past the file's end. Program headers, and an
/// old section that is loaded, stay if they are in a PT_LOAD; else they are dropped.
Result<void> find_parts(const Image& image, const HeaderTables& tables, const OldSection& old,
                        RewriteLayout& layout) {
  const AddressRange file{0, image.bytes().size()};
  std::uint64_t end = elf_header_size;
  if (old.load && old.kept_end > old.load->offset) end = std::max(end, old.kept_end);
  for (const Segment& segment : image.segments()) {
    if (&segment == old.load || segment.type == pt_gnu_sframe || segment.type == llvm::ELF::PT_PHDR) continue;
    if (segment.file_size == 0) continue;
    if (!file.contains(file_range(segment)))
      return fail("segment runs past the end of the file", {}, segment.offset);
    end = std::max(end, segment.offset + segment.file_size);
  }
  std::vector<const SectionHeader*> others;
  for (const SectionHeader& section : image.sections()) {
    if (!in_file(section) || section.index == tables.names_index) continue;
    if (&section == old.section || &section == old.anchor) continue;
    if (!file.contains(file_range(section)))
      return fail("section runs past the end of the file", section.name);
    if (section.allocated())
      end = std::max(end, section.offset + section.size);
    else
      others.push_back(&section);
  }
  // Unloaded parts that start before the end of the loaded part stay, even if they extend past it.
  std::ranges::sort(others, {}, &SectionHeader::offset);
  auto tail = others.begin();
  for (; tail != others.end() && (*tail)->offset < end; ++tail)
    end = std::max(end, (*tail)->offset + (*tail)->size);
  layout.loaded_end = layout.tail_start = layout.tail_end = end;
  if (tail == others.end()) return {};
  layout.tail_start = (*tail)->offset;
  std::uint64_t align = least_tail_align;
  for (; tail != others.end(); ++tail) {
    layout.tail_end = std::max(layout.tail_end, (*tail)->offset + (*tail)->size);
    if (((*tail)->align & ((*tail)->align - 1)) == 0)
      align = std::max(align, std::min<std::uint64_t>((*tail)->align, smallest_page));
  }
  layout.tail_align = layout.tail_end - layout.tail_start >= shared_tail ? smallest_page : align;
  return {};
}

/// Ranges that are rewritten, by offset.
std::vector<AddressRange> find_known(const Image& image, const HeaderTables& tables, const OldSection& old) {
  std::vector<AddressRange> known{{tables.program_offset, tables.program_count * program_entry_size}};
  if (tables.section_count != 0) {
    const SectionHeader& names = image.sections()[tables.names_index];
    known.push_back({tables.section_offset, tables.section_count * section_entry_size});
    known.push_back(file_range(names));
  }
  if (old.load) known.push_back(file_range(*old.load));
  if (old.section && in_file(*old.section) &&
      AddressRange{0, image.bytes().size()}.contains(file_range(*old.section)))
    known.push_back(file_range(*old.section));
  std::ranges::sort(known, {}, &AddressRange::start);
  return known;
}

/// The first byte of [at, end) that is neither zero nor in one of the ranges.
std::optional<std::uint64_t> find_unknown_byte(const Image& image, std::span<const AddressRange> known,
                                               std::uint64_t at, std::uint64_t end) {
  const auto bytes = image.bytes();
  end = std::min<std::uint64_t>(end, bytes.size());
  for (const AddressRange& range : known) {
    for (; at < std::min(range.start, end); ++at)
      if (bytes[at] != std::byte(0)) return at;
    at = std::max(at, range.end());
  }
  for (; at < end; ++at)
    if (bytes[at] != std::byte(0)) return at;
  return std::nullopt;
}

/// Common properties of the PT_LOADs that stay; fails if loaders would reject them.
struct Loads {
  const Segment* first = nullptr;
  std::uint64_t end = 0; ///< end of the last one in memory
  std::uint64_t align = smallest_page;
};

/// The section with a Linux kernel's set-up code, on every machine; modules have it too, but are not loaded
/// by segments. Addresses do not identify a kernel: s390x's are low.
constexpr std::string_view kernel_section = ".init.text";

Result<Loads> check_loads(const Image& image, RewriteLayout& layout) {
  Loads loads;
  if (image.find_section(kernel_section))
    return fail(
        "this is a kernel, whose boot loader does not expect another segment (--emit=section makes the "
        "section alone)",
        kernel_section);
  for (std::size_t i = 0; i < layout.segments.size(); ++i) {
    const Segment& segment = image.segments()[layout.segments[i]];
    if (segment.type != pt_load) continue;
    if (segment.address > max_address)
      return fail("segment at a kernel address: no segment can be added after it", {}, segment.offset);
    if (segment.memory_size > max_address || segment.memory_size < segment.file_size)
      return fail("segment has an invalid size in memory", {}, segment.offset);
    if (segment.address < loads.end) return fail("segments are not sorted by address");
    if (!loads.first) loads.first = &segment;
    loads.end = segment.address + segment.memory_size;
    if (segment.align > RewriteLayout::max_align || (segment.align & (segment.align - 1)) != 0)
      return fail("segment's alignment is too large or not a power of 2", {}, segment.offset);
    loads.align = std::max(loads.align, segment.align);
    layout.load_position = i + 1;
  }
  if (!loads.first) return fail("no loadable segment");
  return loads;
}

/// Assigns addresses, from `at` on, to the blocks that go into the new PT_LOAD. Returns their end.
std::uint64_t place_blocks(RewriteLayout& layout, std::uint64_t at) {
  using Kind = MovedBlock::Kind;
  // PT_INTERP comes before PT_LOADs. If it starts at the same offset as a PT_LOAD, LLVM's objcopy (up to 14)
  // treats it as that segment's parent, and uses its alignment for both. So it does not come first.
  if (std::ranges::none_of(layout.blocks,
                           [](const MovedBlock& b) { return b.to_load && b.kind != Kind::interpreter; }) &&
      at == layout.load_offset)
    at += least_tail_align;
  std::ranges::stable_sort(layout.blocks, {},
                           [](const MovedBlock& b) { return b.kind == Kind::interpreter; });
  for (MovedBlock& block : layout.blocks) {
    if (!block.to_load) continue;
    at = align_up(at, block.align);
    block.new_offset = at;
    block.new_address = layout.load_address + (at - layout.load_offset);
    at += block.size;
  }
  return at;
}

/// Places the table and the section in a new PT_LOAD: in the file after the loaded part, in memory after all
/// segments.
void place_with_table(const Loads& loads, RewriteLayout& layout) {
  const std::uint64_t offset = align_up(layout.loaded_end, loads.align);
  // GNU strip and objcopy (2.40 does, 2.44 does not) move the start of a segment that has the program headers
  // down by less than a page: the page below must be free.
  const std::uint64_t address = align_up(loads.end, loads.align) + loads.align;
  layout.load_offset = offset;
  layout.load_address = address;
  const std::uint64_t distance =
      loads.first->address - loads.first->offset; // may wrap around; added back later
  if (distance % loads.align == 0) {
    const std::uint64_t wanted = address - distance;
    if (wanted <= offset) {
      layout.load_address = offset + distance;
    } else if (wanted - offset <= RewriteLayout::max_padding) {
      layout.load_offset = wanted;
    }
  }
  const std::uint64_t table_size = layout.table_count() * program_entry_size;
  layout.table_offset = layout.load_offset;
  layout.table_end = layout.load_offset + table_size;
  layout.table_address = layout.load_address;
  layout.anchor_offset = layout.load_offset + table_size;
  layout.anchor_address = layout.load_address + table_size;
}

/// Places the new PT_LOAD, or the additions to an existing one.
Result<void> place(const OldSection& old, const Loads& loads, RewriteLayout& layout) {
  // The final alignment of the other segments, so that a second run has the same result.
  layout.align = layout.shift ? std::min(loads.align, layout.max_load_align) : loads.align;
  std::uint64_t at = 0;
  if (layout.inside) {
    layout.load_offset = layout.inside->offset + layout.shift;
    layout.load_address = layout.inside->address;
    at = place_blocks(layout, layout.load_offset);
  } else if (layout.extended) {
    layout.load_offset = old.load->offset + layout.shift;
    layout.load_address = old.load->address;
    at = place_blocks(layout, old.kept_end + layout.shift);
  } else if (layout.room == HeaderRoom::moved) {
    place_with_table(loads, layout);
    at = layout.anchor_offset + anchor_size;
  } else {
    layout.load_offset = align_up(layout.loaded_end + layout.shift, smallest_page);
    layout.load_address = align_up(loads.end, layout.align) + layout.load_offset % layout.align;
    const bool has_blocks = std::ranges::any_of(layout.blocks, &MovedBlock::to_load);
    at = has_blocks ? place_blocks(layout, layout.load_offset) : layout.load_offset;
  }
  layout.section_offset = align_up(at, section_align);
  layout.section_address = layout.load_address + (layout.section_offset - layout.load_offset);
  if (layout.load_address < (layout.extended || layout.inside ? 0 : loads.end) ||
      layout.section_address > max_address * 2)
    return fail("no room in the address space after the last segment");
  return {};
}

/// True if nothing else uses the old section's bytes: they are loaded at the address in its headers. No other
/// section and no table shares them, nor any segment that does not contain them all.
bool is_alone_in_range(const Image& image, const HeaderTables& tables, const OldSection& old) {
  const AddressRange place{old.offset, old.size};
  const auto loaded = image.read(old.address, old.size);
  if (!loaded || loaded->data() != image.bytes().data() + old.offset) return false;
  if (place.overlaps({0, elf_header_size}) ||
      place.overlaps({tables.program_offset, tables.program_count * program_entry_size}) ||
      place.overlaps({tables.section_offset, tables.section_count * section_entry_size}))
    return false;
  for (const SectionHeader& other : image.sections())
    if (&other != old.section && in_file(other) && place.overlaps(file_range(other))) return false;
  return std::ranges::none_of(image.segments(), [&](const Segment& other) {
    const bool holds = file_range(other).contains({old.offset, old.size});
    return &other != old.segment && !holds && place.overlaps(file_range(other));
  });
}

/// True if all section names end inside the table: a name appended to it must not complete another.
bool has_valid_names(const Image& image, const HeaderTables& tables, const SectionHeader& names) {
  const auto table = image.bytes().subspan(names.offset, names.size);
  if (table.empty() || table.back() != std::byte(0)) return false;
  return with_types(image.byte_order(), [&]<class Types>(Types) {
    const auto headers =
        table_at<typename Types::Shdr>(image.bytes(), tables.section_offset, tables.section_count);
    return headers && std::ranges::all_of(*headers, [&](const auto& h) { return h.sh_name < names.size; });
  });
}

} // namespace

Result<HeaderTables> read_tables(const Image& image) {
  using namespace llvm::ELF;
  if (image.type() != et_exec && image.type() != et_dyn)
    return fail("neither an executable nor a shared object");
  if (!image.problems().empty()) return fail("damaged headers: " + image.problems().front().what);
  HeaderTables tables;
  std::uint16_t entry = 0;
  with_types(image.byte_order(), [&]<class Types>(Types) {
    const auto& header = table_at<typename Types::Ehdr>(image.bytes(), 0, 1)->front();
    tables = {header.e_phoff, header.e_shoff, header.e_phnum, header.e_shnum, header.e_shstrndx};
    entry = header.e_shentsize;
  });
  if (tables.program_count == 0) return fail("no program headers");
  if (tables.program_count >= PN_XNUM - 2) return fail("too many program headers");
  if (tables.program_offset % 8 != 0) return fail("program headers are not aligned to 8 bytes");
  const AddressRange programs{tables.program_offset, tables.program_count * program_entry_size};
  if (programs.overlaps({0, elf_header_size})) return fail("program headers overlap the ELF header");
  if (image.sections().empty()) {
    tables.section_offset = tables.section_count = tables.names_index = 0;
    return tables;
  }
  if (tables.section_count != image.sections().size() || tables.section_count >= SHN_LORESERVE - 2)
    return fail("too many section headers");
  if (entry != section_entry_size) return fail("unsupported size of a section header");
  const std::uint64_t section_table_size = tables.section_count * section_entry_size;
  if (tables.section_offset < elf_header_size ||
      programs.overlaps({tables.section_offset, section_table_size}))
    return fail("section headers overlap other headers");
  if (tables.names_index == 0 || tables.names_index >= tables.section_count)
    return fail("no section name table");
  const SectionHeader& names = image.sections()[tables.names_index];
  if (!AddressRange{0, image.bytes().size()}.contains(file_range(names)))
    return fail("section runs past the end of the file", names.name);
  if (file_range(names).overlaps({0, elf_header_size}) || file_range(names).overlaps(programs) ||
      file_range(names).overlaps({tables.section_offset, section_table_size}))
    return fail("section names overlap the headers", names.name);
  if (names.allocated() || names.type != sht_strtab || names.flags & shf_compressed)
    return fail("section name table cannot be moved: it is loaded, compressed or not a string table",
                names.name);
  if (!has_valid_names(image, tables, names))
    return fail("a section's name lies outside the section name table", names.name);
  return tables;
}

Result<OldSection> find_old(const Image& image, const HeaderTables& tables) {
  OldSection old;
  for (const SectionHeader& section : image.sections()) {
    if (section.name == anchor_name && section.size == anchor_size) old.anchor = &section;
    if (section.name != ".sframe" && section.type != sht_gnu_sframe) continue;
    if (old.section) return fail("more than one .sframe section", section.name);
    if (section.type != sht_gnu_sframe && section.type != sht_progbits && section.type != sht_nobits)
      return fail("section has the name .sframe but another type", section.name);
    old.section = &section;
  }
  for (const Segment& segment : image.segments()) {
    if (segment.type != pt_gnu_sframe) continue;
    if (old.segment) return fail("more than one PT_GNU_SFRAME segment");
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
  if (!AddressRange{0, image.bytes().size()}.contains({old.offset, old.size}))
    return fail("section runs past the end of the file", ".sframe");
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load && is_sframe_load(image, tables, segment, old)) old.load = &segment;
  const bool is_inside = old.load && old.anchor && in_file(*old.anchor) &&
                         file_range(*old.load).contains(file_range(*old.anchor));
  if (!is_inside) old.anchor = nullptr;
  // Headers that contradict each other about the segment: moving the table again would leave this one, and
  // the next run would find the linker's place free.
  const std::uint64_t table_end = tables.program_offset + tables.program_count * program_entry_size;
  const bool has_moved = std::ranges::any_of(image.sections(), [&](const SectionHeader& section) {
    return section.name == anchor_name && section.size == anchor_size && in_file(section) &&
           section.offset == table_end;
  });
  if (has_moved && !(old.load && old.has_table))
    return fail("the program headers were moved for an earlier .sframe, and their segment has changed since; "
                "link again",
                anchor_name, table_end);
  return old;
}

Result<void> check_complete(const Image& image, const HeaderTables& tables, const OldSection& old) {
  RewriteLayout layout;
  return find_parts(image, tables, old, layout);
}

bool has_separate_bytes(const Image& image, const HeaderTables& tables, const OldSection& old) {
  return old.size != 0 && !old.load && is_alone_in_range(image, tables, old);
}

bool is_replaceable(const Image& image, const HeaderTables& tables, const OldSection& old) {
  if (!old.segment || old.address % section_align != 0 || !has_separate_bytes(image, tables, old))
    return false;
  const Segment& segment = *old.segment;
  // GNU ld reserves space before it merges: its segment may be larger than the section.
  return segment.address == old.address && segment.offset == old.offset && segment.file_size >= old.size;
}

namespace {

/// What lay_out() and lay_out_inside() have in common, for a layout that says where .sframe goes.
Result<RewriteLayout> lay_out_parts(const Image& image, const HeaderTables& tables, const OldSection& old,
                                    RewriteLayout layout) {
  for (std::uint32_t i = 0; i < image.segments().size(); ++i) {
    const Segment& segment = image.segments()[i];
    const bool goes = (&segment == old.load && !layout.extended) || segment.type == pt_gnu_sframe;
    if (!goes) layout.segments.push_back(i);
  }
  if (const auto found = find_parts(image, tables, old, layout); !found) return unexpected(found.error());
  const auto known = find_known(image, tables, old);
  if (const auto unknown = find_unknown_byte(image, known, layout.tail_end, image.bytes().size()))
    return fail("data after the image belongs to no section or segment and would be lost", {}, *unknown);
  // Bytes that no header describes move with the tail.
  if (layout.has_tail())
    if (const auto unknown = find_unknown_byte(image, known, layout.loaded_end, layout.tail_start))
      layout.tail_start = *unknown;
  const auto loads = check_loads(image, layout);
  if (!loads) return unexpected(loads.error());
  find_room(image, tables, old, *loads->first, layout);
  if (layout.extended && layout.room == HeaderRoom::moved)
    return fail(
        "no room for more program headers; remove .sframe before other changes, and add it after them");
  if (const auto placed = place(old, *loads, layout); !placed) return unexpected(placed.error());
  return layout;
}

} // namespace

Result<RewriteLayout> lay_out(const Image& image, const HeaderTables& tables, const OldSection& old) {
  RewriteLayout layout;
  if (old.load && !old.has_table && old.kept_end > old.load->offset) layout.extended = old.load;
  return lay_out_parts(image, tables, old, std::move(layout));
}

Result<RewriteLayout> lay_out_inside(const Image& image, const HeaderTables& tables, const OldSection& old,
                                     const Room& room) {
  if (old.section || old.segment || old.load) return fail("there is a section already", ".sframe");
  RewriteLayout layout;
  layout.inside = room;
  auto made = lay_out_parts(image, tables, old, std::move(layout));
  if (made && made->room == HeaderRoom::moved) return fail("no room for another program header");
  return made;
}

} // namespace sframe::edit
