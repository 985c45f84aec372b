// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both changes copy the tables of headers, and change fields. What else could refer to the places is found
// first: a symbol, a segment or section that begins or goes on there.

#include "sframe/edit/sections.h"

#include "pieces.h"
#include "rewrite_layout.h"
#include "rewrite_room.h"
#include "sframe/address.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace sframe::edit {

using namespace elf;

namespace {

template <class T> std::vector<T> copy_table(const Image& image, std::uint64_t offset, std::uint64_t count) {
  const auto table = table_at<T>(image.bytes(), offset, count);
  return table ? std::vector<T>(table->begin(), table->end()) : std::vector<T>();
}

const PlacedSection* find(std::span<const PlacedSection> sections, std::uint32_t index) {
  const auto found = std::ranges::find(sections, index, &PlacedSection::index);
  return found == sections.end() ? nullptr : &*found;
}

/// Changes the table's symbols; false if one is elsewhere in a section that changes. `names`: of the symbols.
/// Those outside their section stay: linkers name the last one before an address (_edata, _end).
template <class Sym>
bool place_symbols(const Image& image, std::span<const PlacedSection> sections,
                   std::span<const std::byte> names, std::vector<Sym>& symbols) {
  constexpr std::uint64_t terminator = 4;
  // AArch64's mapping symbols (ELF for the Arm 64-bit Architecture, section 5.5.5): data from here on. One
  // for each object that was linked; the first says it for all.
  const auto is_mapping = [&](const Sym& symbol) {
    return image.machine() == llvm::ELF::EM_AARCH64 && string_at(names, symbol.st_name, 3).starts_with("$d");
  };
  for (Sym& symbol : symbols) {
    const PlacedSection* now = find(sections, symbol.st_shndx);
    if (!now) continue;
    const SectionHeader& old = image.sections()[now->index];
    const std::uint64_t value = symbol.st_value;
    if (value < old.address || value > old.address + old.size) continue;
    if (value == old.address || is_mapping(symbol))
      symbol.st_value = now->address;
    else if (value <= old.address + old.size && value + terminator >= old.address + old.size &&
             now->size >= terminator)
      symbol.st_value = now->address + now->size - (old.address + old.size - value);
    else
      return false;
  }
  return true;
}

template <class Types>
Result<std::vector<Edit::Piece>> place_headers(const Image& image, const HeaderTables& tables,
                                               std::span<const PlacedSection> sections) {
  using Phdr = typename Types::Phdr;
  using Shdr = typename Types::Shdr;
  using Sym = typename Types::Sym;
  std::vector<Edit::Piece> pieces;
  auto segments = copy_table<Phdr>(image, tables.program_offset, tables.program_count);
  auto headers = copy_table<Shdr>(image, tables.section_offset, tables.section_count);
  for (const PlacedSection& now : sections) {
    const SectionHeader& old = image.sections()[now.index];
    for (Phdr& segment : segments) {
      if (segment.p_type == pt_load || segment.p_offset != old.offset || segment.p_filesz != old.size)
        continue;
      segment.p_offset = now.offset;
      segment.p_vaddr = now.address;
      segment.p_paddr = now.address;
      segment.p_filesz = now.size;
      segment.p_memsz = now.size;
    }
    headers[now.index].sh_offset = now.offset;
    headers[now.index].sh_addr = now.address;
    headers[now.index].sh_size = now.size;
  }
  pieces.push_back({tables.program_offset, to_bytes(segments)});
  pieces.push_back({tables.section_offset, to_bytes(headers)});
  for (const SectionHeader& section : image.sections()) {
    if (section.type != sht_symtab && section.type != sht_dynsym) continue;
    auto symbols = copy_table<Sym>(image, section.offset, section.size / sizeof(Sym));
    const SectionHeader* strings =
        section.link < image.sections().size() ? &image.sections()[section.link] : nullptr;
    const bool has_names =
        strings && in_file(*strings) && AddressRange{0, image.bytes().size()}.contains(file_range(*strings));
    const auto names =
        has_names ? image.bytes().subspan(strings->offset, strings->size) : std::span<const std::byte>{};
    if (!place_symbols<Sym>(image, sections, names, symbols))
      return fail("a symbol refers to the middle of a section that changes", section.name);
    if (!symbols.empty()) pieces.push_back({section.offset, to_bytes(symbols)});
  }
  return pieces;
}

/// The bytes to be removed: [from, end), of which the first ones are unused.
struct Cut {
  const Segment* segment = nullptr;
  std::uint64_t unused = 0, end = 0, size = 0;
  std::uint64_t now(std::uint64_t offset) const { return offset >= end ? offset - size : offset; }
};

std::optional<Cut> find_cut(const Image& image, const HeaderTables& tables, std::uint64_t unused) {
  Cut cut{.segment = nullptr, .unused = unused, .end = std::numeric_limits<std::uint64_t>::max(), .size = 0};
  std::uint64_t align = smallest_page;
  for (const Segment& segment : image.segments()) {
    if (segment.type != pt_load) continue;
    align = std::max(align, segment.align);
    const bool is_it = file_range(segment).contains(unused) && unused > segment.offset;
    if (is_it && (cut.segment || segment.memory_size != segment.file_size)) return std::nullopt;
    if (is_it) cut.segment = &segment;
  }
  if (!cut.segment || (align & (align - 1)) != 0) return std::nullopt;
  const std::uint64_t segment_end = file_range(*cut.segment).end();
  // All that begins later moves; nothing may begin or go on in between.
  const auto see = [&](std::uint64_t offset, std::uint64_t size) {
    if (offset >= segment_end) cut.end = std::min(cut.end, offset);
    return offset >= segment_end || offset + size <= unused;
  };
  for (const Segment& segment : image.segments())
    if (&segment != cut.segment && segment.file_size != 0 && !see(segment.offset, segment.file_size))
      return std::nullopt;
  for (const SectionHeader& section : image.sections()) {
    if (section.type == sht_null || (section.offset <= unused && section.size == 0)) continue;
    if (!see(section.offset, in_file(section) ? section.size : 0)) return std::nullopt;
  }
  if (!see(tables.section_offset, tables.section_count * section_entry_size) ||
      !see(tables.program_offset, tables.program_count * program_entry_size))
    return std::nullopt;
  if (cut.end == std::numeric_limits<std::uint64_t>::max() || cut.end > image.bytes().size() ||
      !all_zero(image, unused, cut.end))
    return std::nullopt;
  cut.size = (cut.end - unused) & ~(align - 1);
  return cut.size != 0 ? std::optional(cut) : std::nullopt;
}

template <class Types> Edit make_cut(const Image& image, const HeaderTables& tables, const Cut& cut) {
  using Ehdr = typename Types::Ehdr;
  auto header = copy_table<Ehdr>(image, 0, 1);
  auto segments = copy_table<typename Types::Phdr>(image, tables.program_offset, tables.program_count);
  auto sections = copy_table<typename Types::Shdr>(image, tables.section_offset, tables.section_count);
  header.front().e_phoff = cut.now(tables.program_offset);
  header.front().e_shoff = cut.now(tables.section_offset);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    segments[i].p_offset = cut.now(segments[i].p_offset);
    if (&image.segments()[i] != cut.segment) continue;
    segments[i].p_filesz = cut.unused - cut.segment->offset;
    segments[i].p_memsz = cut.unused - cut.segment->offset;
  }
  for (auto& section : sections) section.sh_offset = cut.now(section.sh_offset);
  std::vector<Edit::Piece> pieces{{0, to_bytes(header)},
                                  {cut.now(tables.program_offset), to_bytes(segments)},
                                  {cut.now(tables.section_offset), to_bytes(sections)}};
  std::ranges::sort(pieces, {}, &Edit::Piece::offset);
  Edit edit;
  edit.keep({0, 0, cut.unused});
  edit.keep({cut.end - cut.size, cut.end, image.bytes().size() - cut.end});
  for (Edit::Piece& piece : pieces)
    if (!piece.bytes.empty()) edit.add(piece.offset, std::move(piece.bytes));
  return edit;
}

} // namespace

Result<Edit> replace_sections(const Image& image, std::uint64_t offset, std::vector<std::byte> bytes,
                              std::span<const PlacedSection> sections) {
  const auto tables = read_tables(image);
  if (!tables) return unexpected(tables.error());
  auto pieces = with_types(
      image.byte_order(), [&]<class Types>(Types) { return place_headers<Types>(image, *tables, sections); });
  if (!pieces) return unexpected(pieces.error());
  pieces->push_back({offset, std::move(bytes)});
  return make_edit(Edit::keep_start(image.bytes().size()), std::move(*pieces));
}

std::optional<Edit> cut_segment(const Image& image, std::uint64_t unused) {
  const auto tables = read_tables(image);
  if (!tables) return std::nullopt;
  const auto cut = find_cut(image, *tables, unused);
  if (!cut) return std::nullopt;
  return with_types(image.byte_order(),
                    [&]<class Types>(Types) { return make_cut<Types>(image, *tables, *cut); });
}

} // namespace sframe::edit
