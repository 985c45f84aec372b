// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// find_room() tries the ways in the order above the declaration. MovableParts has one limit, the offset of
// the first part that cannot move: a section or segment that is not completely understood lowers it. So an
// unknown part costs room and is never damaged. Parts are moved from the first on, as few as necessary.
// References reads .dynamic and each symbol table once; tables that overlap count until as many bytes were
// read as the file has, then every section counts as referred to.

#include "rewrite_room.h"

#include "sframe/elf/llvm_types.h"
#include "sframe/elf/machine.h"

#include "sframe/elf/tagged_values.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <array>
#include <span>

namespace sframe::edit {

using namespace elf;

namespace {

using namespace llvm::ELF;

/// User programs cannot map lower addresses (vm.mmap_min_addr).
constexpr std::uint64_t lowest_address = 0x10000;

/// The largest page of the machine's kernels.
std::uint64_t largest_page_of(std::uint16_t machine) {
  const MachineTraits* known = find_machine(machine);
  return known ? known->largest_page : smallest_page;
}

/// Meaningless bytes that no header describes: patchelf writes X or Z over what it moves away.
bool is_padding(std::byte byte) {
  return byte == std::byte(0) || byte == std::byte('X') || byte == std::byte('Z');
}

bool is_near_type(std::uint32_t type) {
  return type == PT_INTERP || type == PT_NOTE || type == PT_GNU_PROPERTY;
}

/// Notes that are found by PT_NOTE, never by their address.
bool is_known_note(const SectionHeader& section) {
  constexpr std::array<std::string_view, 5> names = {".note.gnu.property", ".note.gnu.build-id",
                                                     ".note.ABI-tag", ".note.package", ".note.dlopen"};
  return section.type == sht_note && std::ranges::find(names, section.name) != names.end();
}

/// The tags whose values are addresses, and may point into what moves.
bool is_address_tag(std::uint64_t tag) {
  constexpr std::array<std::uint64_t, 21> tags = {
      DT_PLTGOT, DT_HASH,     DT_STRTAB,        DT_SYMTAB,      DT_RELA,        DT_INIT,
      DT_FINI,   DT_REL,      DT_DEBUG,         DT_JMPREL,      DT_INIT_ARRAY,  DT_FINI_ARRAY,
      DT_RELR,   DT_GNU_HASH, DT_PREINIT_ARRAY, DT_TLSDESC_PLT, DT_TLSDESC_GOT, DT_VERSYM,
      DT_VERDEF, DT_VERNEED,  DT_SYMTAB_SHNDX};
  return std::ranges::find(tags, tag) != tags.end();
}

/// References to sections from .dynamic and the symbols.
class References {
public:
  explicit References(const Image& image) : image_(image), unread_(image.bytes().size()) {
    with_types(image.byte_order(), [&]<class Types>(Types) { read<Types>(); });
  }

  /// True if a symbol names a place in the section: code may refer to it. Ignores section symbols, the symbol
  /// in the note of crt1.o, and the mapping symbols of AArch64.
  bool has_symbol(const SectionHeader& section) const { return has_symbol_[section.index]; }

  /// True if exactly one entry of .dynamic points into the section, to its start, and its tag matches the
  /// section's type.
  bool is_dynamic_table(const SectionHeader& section) const {
    const std::uint64_t tag = dynamic_tag(section.type, section.flags); // no entry of dynamic_ has tag 0
    // Static executables find their relocations by symbols, and DT_RELASZ may span several sections.
    const TaggedValue whole = {DT_RELASZ, section.size};
    if (tag == DT_RELA && (image_.type() != et_dyn || std::ranges::find(dynamic_, whole) == dynamic_.end()))
      return false;
    std::size_t right = 0;
    for (const auto& [entry_tag, value] : dynamic_) {
      if (entry_tag == tag && value == section.address)
        ++right;
      else if (entry_tag == tag || (is_address_tag(entry_tag) && value - section.address < section.size))
        return false;
    }
    return right == 1;
  }

private:
  template <class Types> void read() {
    has_symbol_.assign(image_.sections().size(), false);
    for (const SectionHeader& section : image_.sections()) {
      if (section.type == sht_symtab || section.type == sht_dynsym) read_symbols<Types>(section);
    }
    if (const SectionHeader* dynamic = dynamic_section(image_)) read_dynamic(*dynamic);
  }

  template <class Types> void read_symbols(const SectionHeader& section) {
    if (section.size > unread_) {
      has_symbol_.assign(has_symbol_.size(), true);
      return;
    }
    unread_ -= section.size;
    const auto symbols = table_at<typename Types::Sym>(image_.bytes(), section.offset,
                                                       section.size / sizeof(typename Types::Sym));
    if (!symbols) return;
    std::string_view names;
    if (section.link < image_.sections().size()) {
      const SectionHeader& strings = image_.sections()[section.link];
      if (const auto bytes = table_at<char>(image_.bytes(), strings.offset, strings.size);
          bytes && in_file(strings))
        names = {bytes->data(), bytes->size()};
    }
    for (const auto& symbol : *symbols) {
      if (symbol.st_shndx >= has_symbol_.size() || symbol.getType() == STT_SECTION) continue;
      if (symbol.getType() == STT_FILE || has_symbol_[symbol.st_shndx]) continue;
      // Linkers give __ehdr_start the number of the first section, which does not contain it.
      const SectionHeader& where = image_.sections()[symbol.st_shndx];
      if (symbol.st_value - where.address > where.size) continue;
      const auto name = symbol.st_name < names.size() ? names.substr(symbol.st_name) : std::string_view();
      const bool is_tag = name.starts_with("__abi_tag") || name.starts_with("$d") || name.starts_with("$x");
      if (!is_tag) has_symbol_[symbol.st_shndx] = true;
    }
  }

  void read_dynamic(const SectionHeader& section) {
    const auto bytes = table_at<std::byte>(image_.bytes(), section.offset, section.size);
    if (!bytes) return;
    TaggedValueCursor entries(*bytes, image_.byte_order());
    while (const auto entry = entries.next()) dynamic_.push_back(*entry);
  }

  const Image& image_;
  std::uint64_t unread_;         ///< bytes of the file; tables that overlap have more, and are not read
  std::vector<bool> has_symbol_; ///< by section
  std::vector<TaggedValue> dynamic_;
};

/// The movable parts after the program headers.
class MovableParts {
public:
  MovableParts(const Image& image, const HeaderTables& tables, const OldSection& old, const Segment& load,
               AddressRange free, std::uint64_t table_offset, std::uint64_t table_end)
      : image_(image), old_(old), load_(load), free_(free), references_(image), start_(table_offset),
        table_end_(table_end) {
    limit_ = load.offset + load.file_size;
    // What moves keeps its alignment only where addresses and offsets differ by whole pages.
    if ((load.address - load.offset) % smallest_page != 0) stop_at(start_);
    const std::uint64_t section_table = tables.section_count * section_entry_size;
    if (tables.section_offset + section_table > start_)
      limit_ = std::min(limit_, std::max(start_, tables.section_offset));
    for (const SectionHeader& section : image.sections()) add(section);
    for (const Segment& segment : image.segments()) add(segment);
    merge();
    find_gaps();
  }

  const std::vector<MovedBlock>& blocks() const { return blocks_; }
  /// The offset of the first part that cannot move.
  std::uint64_t limit() const { return limit_; }
  /// The end of the room if the first `count` blocks move away.
  std::uint64_t room_end(std::size_t count) const {
    return count < blocks_.size() ? blocks_[count].offset : limit_;
  }

private:
  void stop_at(std::uint64_t offset) { limit_ = std::min(limit_, std::max(offset, start_)); }

  bool is_in_place(std::uint64_t offset, std::uint64_t address) const {
    return address - load_.address == offset - load_.offset;
  }

  std::optional<MovedBlock::Kind> kind(const SectionHeader& section) const {
    if (!section.allocated() || section.flags & (shf_write | shf_execinstr | SHF_TLS)) return std::nullopt;
    if (references_.has_symbol(section) || !is_in_place(section.offset, section.address)) return std::nullopt;
    if (section.align > smallest_page || (section.align & (section.align - 1)) != 0) return std::nullopt;
    if (is_known_note(section)) return MovedBlock::Kind::note;
    if (section.name == ".interp" && section.type == sht_progbits) return MovedBlock::Kind::interpreter;
    if (references_.is_dynamic_table(section)) return MovedBlock::Kind::dynamic_table;
    return std::nullopt;
  }

  void add(const SectionHeader& section) {
    if (section.type == sht_null || (section.type == sht_nobits && !section.allocated())) return;
    if (&section == old_.section && free_.contains(file_range(section))) return;
    const bool reaches =
        in_file(section) && AddressRange::between(start_, limit_).overlaps(file_range(section));
    if (section.offset < start_ && !reaches) return;
    const auto what = kind(section);
    if (!what || section.size == 0 || section.type == sht_nobits || section.offset < start_)
      return stop_at(section.offset);
    MovedBlock block{
        .kind = *what, .offset = section.offset, .size = section.size, .address = section.address};
    block.has_build_id = section.name == ".note.gnu.build-id";
    block.align = std::max<std::uint64_t>(section.align, 1);
    block.sections = {section.index};
    blocks_.push_back(std::move(block));
  }

  void add(const Segment& segment) {
    if (&segment == &load_ || &segment == old_.load || segment.type == pt_gnu_sframe) return;
    if (segment.type == PT_PHDR || segment.file_size == 0) return;
    if (segment.offset + segment.file_size <= start_) return;
    if (is_near_type(segment.type) && AddressRange::between(start_, table_end_).overlaps(file_range(segment)))
      return;
    if (!is_near_type(segment.type) || !is_in_place(segment.offset, segment.address) ||
        segment.align > smallest_page || (segment.align & (segment.align - 1)) != 0 ||
        segment.offset < start_)
      return stop_at(segment.offset);
    MovedBlock block{.kind =
                         segment.type == PT_INTERP ? MovedBlock::Kind::interpreter : MovedBlock::Kind::note,
                     .offset = segment.offset,
                     .size = segment.file_size,
                     .address = segment.address};
    block.align = std::max<std::uint64_t>(segment.align, 1);
    blocks_.push_back(std::move(block));
  }

  /// Overlapping parts become one block if they are of one kind.
  void merge() {
    std::ranges::sort(blocks_, {}, [](const MovedBlock& b) { return std::pair(b.offset, b.sections); });
    std::vector<MovedBlock> merged;
    for (MovedBlock& block : blocks_) {
      if (merged.empty() || block.offset >= merged.back().offset + merged.back().size) {
        merged.push_back(std::move(block));
        continue;
      }
      MovedBlock& into = merged.back();
      if (into.kind != block.kind || into.kind == MovedBlock::Kind::dynamic_table) stop_at(into.offset);
      into.size = std::max(into.size, block.offset + block.size - into.offset);
      into.align = std::max(into.align, block.align);
      into.has_build_id |= block.has_build_id;
      into.sections.insert(into.sections.end(), block.sections.begin(), block.sections.end());
    }
    // No section describes the bytes, so they may have other uses.
    for (const MovedBlock& block : merged)
      if (block.sections.empty()) stop_at(block.offset);
    for (const MovedBlock& block : merged)
      if (block.offset < limit_ && block.offset + block.size > limit_) stop_at(block.offset);
    std::erase_if(merged, [&](const MovedBlock& block) { return block.offset >= limit_; });
    blocks_ = std::move(merged);
  }

  /// Bytes between the blocks may be data that no header describes.
  void find_gaps() {
    std::uint64_t at = table_end_;
    for (std::size_t i = 0; i <= blocks_.size(); ++i) {
      for (const std::uint64_t end = room_end(i); at < end; ++at)
        if (!is_padding(image_.bytes()[at]) && !free_.contains(at)) {
          limit_ = at;
          return blocks_.resize(i);
        }
      if (i < blocks_.size()) at = blocks_[i].offset + blocks_[i].size;
    }
  }

  const Image& image_;
  const OldSection& old_;
  const Segment& load_;
  AddressRange free_;
  References references_;
  std::uint64_t start_, table_end_, limit_ = 0;
  std::vector<MovedBlock> blocks_; ///< by offset
};

/// The place of the table, or its place before it moved.
struct TableRange {
  std::uint64_t offset = 0, size = 0;
};

TableRange find_original_table(const Image& image, const HeaderTables& tables, const OldSection& old) {
  if (!old.has_table) return {tables.program_offset, tables.program_count * program_entry_size};
  // The table was moved by an earlier version of this code: its old bytes are still there. Their number is
  // not recorded, but the entries are recognisable.
  const auto is_known = [&](const auto& entry) {
    return entry.p_type == PT_PHDR || entry.p_type == pt_gnu_sframe ||
           std::ranges::any_of(image.segments(), [&](const Segment& segment) {
             return segment.type == entry.p_type && segment.offset == entry.p_offset &&
                    segment.address == entry.p_vaddr && segment.file_size == entry.p_filesz;
           });
  };
  // Bytes after them may look like one, too: PT_NULL is mostly zeros. The moved table has all of them.
  auto others = std::ranges::count_if(image.segments(), [&](const Segment& segment) {
    return &segment != old.load && segment.type != pt_gnu_sframe;
  });
  std::uint64_t count = 0;
  with_types(image.byte_order(), [&]<class Types>(Types) {
    if (const auto table =
            table_at<typename Types::Phdr>(image.bytes(), elf_header_size, tables.program_count))
      for (; count < table->size() && is_known((*table)[count]); ++count)
        if ((*table)[count].p_type != pt_gnu_sframe && others-- == 0) break;
  });
  return {elf_header_size, count * program_entry_size};
}

/// True if the table can grow to `size` bytes in place: only padding in the same segment follows.
bool has_room(const Image& image, const HeaderTables& tables, const OldSection& old,
              const TableRange& original, const Segment& load, AddressRange free, std::uint64_t size) {
  if (size <= original.size && !old.has_table) return true;
  if (tables.section_count == 0) return false; // nothing describes the bytes after the table
  if (!file_range(load).contains({original.offset, size})) return false;
  const auto in_the_way = [&](std::uint64_t at, std::uint64_t length) {
    return AddressRange{original.offset, size}.overlaps({at, length});
  };
  for (const SectionHeader& section : image.sections())
    if (section.type != sht_null && !(&section == old.section && free.contains(file_range(section))) &&
        in_the_way(section.offset, std::max<std::uint64_t>(section.size, 1)))
      return false;
  // PT_GNU_SFRAME is replaced: where it was must make no difference, or a second run would find other room.
  for (const Segment& segment : image.segments())
    if (segment.type != pt_load && segment.type != PT_PHDR && segment.type != pt_gnu_sframe &&
        segment.offset != 0 && in_the_way(segment.offset, segment.file_size) &&
        // patchelf 0.14 drops PT_GNU_PROPERTY when its table grows over the note.
        !(is_near_type(segment.type) &&
          AddressRange{original.offset, original.size}.overlaps(file_range(segment))))
      return false;
  if (in_the_way(0, elf_header_size) ||
      in_the_way(tables.section_offset, tables.section_count * section_entry_size))
    return false;
  const std::uint64_t end = original.offset + size;
  for (std::uint64_t at = original.offset + original.size; at < end; ++at)
    if (!is_padding(image.bytes()[at]) && !free.contains(at)) return false;
  return true;
}

/// Places those of the first `count` blocks that are not to_load after the table, for a segment that has file
/// offset 0 at `base`. Returns their end.
std::uint64_t pack(std::span<MovedBlock> blocks, std::uint64_t at, std::uint64_t base) {
  for (MovedBlock& block : blocks) {
    if (block.to_load) continue;
    at = align_up(at, block.align);
    block.new_offset = at;
    block.new_address = base + at;
    at += block.size;
  }
  return at;
}

/// Makes room in place; true on success. Only dynamic tables move to the new segment, or with `notes`, notes
/// too.
bool make_room(const Image& image, const MovableParts& movable, std::uint64_t start, std::uint64_t base,
               bool notes, RewriteLayout& layout) {
  const bool has_fixed_addresses = image.type() == et_exec;
  const auto fits = [&](std::vector<MovedBlock>& blocks) {
    const std::uint64_t end = pack(blocks, start, base);
    if (end > movable.room_end(blocks.size())) return false;
    layout.table_end = end;
    if (!blocks.empty()) layout.table_end = std::max(end, blocks.back().offset + blocks.back().size);
    layout.blocks = blocks;
    const std::uint64_t left = align_up(end, section_align);
    if (has_fixed_addresses && left < layout.table_end && std::ranges::any_of(blocks, &MovedBlock::to_load))
      layout.cover = CoverSection{moved_tables_name, left, base + left, layout.table_end - left};
    return true;
  };
  std::vector<MovedBlock> blocks;
  for (const MovedBlock& block : movable.blocks()) {
    MovedBlock& added = blocks.emplace_back(block);
    added.to_load = block.kind == MovedBlock::Kind::dynamic_table;
    if (fits(blocks)) return true;
  }
  if (!notes) return false;
  // The build ID goes last, PT_INTERP before it.
  const auto rank = [](const MovedBlock& b) {
    return b.has_build_id ? 2 : b.kind == MovedBlock::Kind::interpreter ? 1 : 0;
  };
  for (const int wanted : {0, 1, 2})
    for (MovedBlock& block : blocks) {
      if (block.to_load || rank(block) != wanted) continue;
      block.to_load = true;
      if (fits(blocks)) return true;
    }
  return false;
}

/// Puts a page before the first segment; true if there are addresses for it.
bool prepend(const Image& image, const TableRange& original, const Segment& first,
             const MovableParts& movable, std::uint64_t size, RewriteLayout& layout) {
  const std::uint64_t shift = largest_page_of(image.machine());
  if (image.type() != et_exec || original.offset != elf_header_size || first.offset != 0) return false;
  if (first.address % shift != 0 || first.address < lowest_address + shift) return false;
  if (first.memory_size < first.file_size || original.offset + size > shift) return false;
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load && (segment.address - segment.offset) % shift != 0) return false;
  std::vector<MovedBlock> blocks;
  for (const MovedBlock& block : movable.blocks()) {
    if (block.kind == MovedBlock::Kind::dynamic_table) break;
    blocks.push_back(block);
  }
  std::uint64_t end = pack(blocks, original.offset + size, first.address - shift);
  if (end > smallest_page) {
    blocks.clear();
    end = original.offset + size;
  }
  layout.blocks = std::move(blocks);
  layout.table_end = end;
  layout.shift = shift;
  layout.max_load_align = shift;
  layout.cover = CoverSection{linker_headers_name, shift, first.address,
                              original.offset + original.size / program_entry_size * program_entry_size};
  return true;
}

} // namespace

const SectionHeader* dynamic_section(const Image& image) {
  const Segment* segment = image.find_segment(pt_dynamic);
  const auto found = std::ranges::find_if(image.sections(), [&](const SectionHeader& section) {
    return section.type == SHT_DYNAMIC && section.allocated() && section.size != 0 && segment &&
           section.offset == segment->offset;
  });
  return found == image.sections().end() ? nullptr : &*found;
}

std::uint64_t dynamic_tag(std::uint32_t section_type, std::uint64_t flags) {
  switch (section_type) {
  case SHT_HASH: return DT_HASH;
  case SHT_GNU_HASH: return DT_GNU_HASH;
  case SHT_DYNSYM: return DT_SYMTAB;
  case SHT_STRTAB: return flags & shf_alloc ? DT_STRTAB : 0;
  case SHT_RELA: return flags & shf_alloc ? DT_RELA : 0;
  case SHT_GNU_versym: return DT_VERSYM;
  case SHT_GNU_verneed: return DT_VERNEED;
  case SHT_GNU_verdef: return DT_VERDEF;
  default: return 0;
  }
}

bool all_zero(const Image& image, std::uint64_t offset, std::uint64_t end) {
  const auto bytes = image.bytes().subspan(offset, end - offset);
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(0); });
}

void find_room(const Image& image, const HeaderTables& tables, const OldSection& old, const Segment& first,
               RewriteLayout& layout) {
  const TableRange original = find_original_table(image, tables, old);
  const std::uint64_t size = layout.table_count() * program_entry_size;
  const auto load = std::ranges::find_if(image.segments(), [&](const Segment& segment) {
    return segment.type == pt_load && &segment != old.load &&
           file_range(segment).contains({original.offset, std::min(original.size, size)}) &&
           segment.file_size != 0;
  });
  // The place of a section that is removed counts as room.
  const AddressRange free =
      has_separate_bytes(image, tables, old) ? AddressRange{old.offset, old.size} : AddressRange{0, 0};
  layout.table_offset = original.offset;
  layout.table_end = original.offset + std::max(size, original.size);
  if (load != image.segments().end()) {
    const std::uint64_t base = load->address - load->offset; // may wrap around; added back later
    layout.table_address = base + original.offset;
    if (has_room(image, tables, old, original, *load, free, size)) return;
    const MovableParts movable(image, tables, old, *load, free, original.offset,
                               original.offset + original.size);
    const std::uint64_t start = original.offset + size;
    layout.room = HeaderRoom::made;
    if (make_room(image, movable, start, base, false, layout)) return;
    layout.room = HeaderRoom::prepended;
    if (prepend(image, original, first, movable, size, layout)) {
      layout.table_address = first.address - layout.shift + original.offset;
      return;
    }
    layout.room = HeaderRoom::made;
    if (make_room(image, movable, start, base, true, layout)) return;
  }
  layout.room = HeaderRoom::moved;
}

} // namespace sframe::edit
