// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing the file that rewrite_layout.h describes. Headers that stay are copied as they are, with those
// fields changed that have to.

#include "sframe/elf/rewrite.h"

#include "llvm_types.h"
#include "rewrite_layout.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sframe::elf {

namespace {

constexpr std::string_view section_name = ".sframe";

/// A table of section names, which ends with a NUL. It only grows.
class Names {
public:
  explicit Names(std::span<const std::byte> table)
      : bytes_(reinterpret_cast<const char*>(table.data()), table.size()) {}

  /// The place of a name, which is added where it is not there.
  std::uint32_t place(std::string_view name) {
    const std::string whole = std::string(1, '\0') + std::string(name) + '\0';
    std::size_t at = bytes_.find(whole);
    if (at == std::string::npos) {
      at = bytes_.size() - 1;
      bytes_ += whole.substr(1);
    }
    return static_cast<std::uint32_t>(at + 1);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

private:
  std::string bytes_;
};

Edit make_edit(std::uint64_t kept, std::vector<Edit::Piece> pieces) {
  std::ranges::sort(pieces, {}, &Edit::Piece::offset);
  Edit edit{.kept = kept, .size = kept, .pieces = {}};
  for (Edit::Piece& piece : pieces) edit.add(piece.offset, std::move(piece.bytes));
  return edit;
}

/// A table of structures of the file as the bytes of a piece.
template <class T> std::vector<std::byte> to_bytes(std::span<const T> table) {
  static_assert(alignof(T) == 1);
  const auto bytes = std::as_bytes(table);
  return {bytes.begin(), bytes.end()};
}

template <class Phdr>
void set_segment(Phdr& segment, std::uint32_t type, std::uint64_t offset, std::uint64_t address,
                 std::uint64_t size, std::uint64_t align) {
  segment.p_type = type;
  segment.p_flags = pf_r;
  segment.p_offset = offset;
  segment.p_vaddr = address;
  segment.p_paddr = address;
  segment.p_filesz = size;
  segment.p_memsz = size;
  segment.p_align = align;
}

template <class Shdr>
void set_section(Shdr& section, std::uint32_t type, std::uint64_t offset, std::uint64_t address,
                 std::uint64_t size) {
  section.sh_type = type;
  section.sh_flags = shf_alloc;
  section.sh_addr = address;
  section.sh_offset = offset;
  section.sh_size = size;
  section.sh_link = 0;
  section.sh_info = 0;
  section.sh_addralign = section_align;
  section.sh_entsize = 0;
}

template <class Phdr>
std::vector<Phdr> make_segments(const Image& image, const Tables& tables, const Layout& layout,
                                std::uint64_t size) {
  const auto old = *table_at<Phdr>(image.bytes(), tables.program_offset, tables.program_count);
  std::vector<Phdr> segments;
  for (const std::uint32_t i : layout.segments) {
    Phdr& entry = segments.emplace_back(old[i]);
    if (entry.p_type != llvm::ELF::PT_PHDR) continue;
    const std::uint64_t table_size = layout.table_count() * sizeof(Phdr);
    if (layout.table_moves)
      set_segment(entry, entry.p_type, layout.table_offset, layout.table_address, table_size, entry.p_align);
    else
      entry.p_filesz = table_size, entry.p_memsz = table_size;
  }
  Phdr load;
  set_segment(load, pt_load, layout.load_offset, layout.load_address,
              layout.section_offset - layout.load_offset + size, layout.align);
  segments.insert(segments.begin() + static_cast<std::ptrdiff_t>(layout.load_position), load);
  set_segment(segments.emplace_back(), pt_gnu_sframe, layout.section_offset, layout.section_address, size,
              section_align);
  return segments;
}

/// The section headers with .sframe, and where it is needed the anchor, among them; their names are added to
/// `names`.
template <class Shdr>
std::vector<Shdr> make_sections(const Image& image, const Tables& tables, const Layout& layout,
                                const OldSection& old, std::uint64_t size, Names& names) {
  const auto headers = *table_at<Shdr>(image.bytes(), tables.section_offset, tables.section_count);
  std::vector<Shdr> table(headers.begin(), headers.end());
  const auto entry = [&](const Section* replaced, std::string_view name) -> Shdr& {
    Shdr& header = replaced ? table[replaced->index] : table.emplace_back();
    header.sh_name = names.place(name);
    return header;
  };
  set_section(entry(old.section, section_name), sht_gnu_sframe, layout.section_offset, layout.section_address,
              size);
  if (layout.table_moves)
    set_section(entry(old.anchor, anchor_name), sht_progbits, layout.anchor_offset, layout.anchor_address,
                anchor_size);
  return table;
}

/// The file with everything where the layout says.
template <class Types>
Edit write(const Image& image, const Tables& tables, const Layout& layout, const OldSection& old,
           std::span<const std::byte> section) {
  using Shdr = typename Types::Shdr;
  auto header = table_at<typename Types::Ehdr>(image.bytes(), 0, 1)->front();
  const auto segments = make_segments<typename Types::Phdr>(image, tables, layout, section.size());
  header.e_phoff = layout.table_offset;
  header.e_phnum = static_cast<std::uint16_t>(segments.size());

  std::vector<Edit::Piece> pieces;
  const auto add = [&](std::uint64_t offset, std::vector<std::byte> bytes) {
    pieces.push_back({offset, std::move(bytes)});
    return offset + pieces.back().bytes.size();
  };
  add(layout.table_offset, to_bytes(std::span<const typename Types::Phdr>(segments)));
  const std::uint64_t end = add(layout.section_offset, to_bytes(section));
  if (has_own_place(image, tables, old)) add(old.offset, std::vector<std::byte>(old.size));
  if (tables.section_count != 0) {
    const Section& old_names = image.sections()[tables.names_index];
    Names names(image.bytes().subspan(old_names.offset, old_names.size));
    auto sections = make_sections<Shdr>(image, tables, layout, old, section.size(), names);
    sections[tables.names_index].sh_offset = end;
    sections[tables.names_index].sh_size = names.bytes().size();
    const std::uint64_t offset = (add(end, to_bytes(names.bytes())) + 7) & ~std::uint64_t(7);
    add(offset, to_bytes(std::span<const Shdr>(sections)));
    header.e_shoff = offset;
    header.e_shnum = static_cast<std::uint16_t>(sections.size());
  }
  add(0, to_bytes(std::span<const typename Types::Ehdr>(&header, 1)));
  return make_edit(layout.content_end, std::move(pieces));
}

/// The file with another section in the old one's place; what is left of the place is zeros.
template <class Types>
Edit replace(const Image& image, const Tables& tables, const OldSection& old,
             std::span<const std::byte> section) {
  using Phdr = typename Types::Phdr;
  using Shdr = typename Types::Shdr;
  std::vector<Edit::Piece> pieces;
  auto place = to_bytes(section);
  place.resize(old.size);
  pieces.push_back({old.offset, std::move(place)});

  const std::size_t number = static_cast<std::size_t>(old.segment - image.segments().data());
  Phdr segment = (*table_at<Phdr>(image.bytes(), tables.program_offset, tables.program_count))[number];
  set_segment(segment, pt_gnu_sframe, old.offset, old.address, section.size(), section_align);
  pieces.push_back(
      {tables.program_offset + number * sizeof(Phdr), to_bytes(std::span<const Phdr>(&segment, 1))});

  if (old.section) {
    const std::uint32_t index = old.section->index;
    Shdr entry = (*table_at<Shdr>(image.bytes(), tables.section_offset, tables.section_count))[index];
    set_section(entry, sht_gnu_sframe, old.offset, old.address, section.size());
    pieces.push_back(
        {tables.section_offset + index * sizeof(Shdr), to_bytes(std::span<const Shdr>(&entry, 1))});
  }
  return make_edit(image.bytes().size(), std::move(pieces));
}

} // namespace

Result<Edit> add_section(const Image& image, const SectionMaker& make) {
  const auto tables = read_tables(image);
  if (!tables) return std::unexpected(tables.error());
  const auto old = find_old(image, *tables);
  if (!old) return std::unexpected(old.error());
  if (const auto complete = check_complete(image, *tables, *old); !complete)
    return std::unexpected(complete.error());
  const auto with = [&](auto&& f) { return with_types(image.byte_order(), f); };
  if (is_replaceable(image, *tables, *old)) {
    const auto section = make(old->address);
    if (!section) return std::unexpected(section.error());
    if (section->size() <= old->size)
      return with([&]<class Types>(Types) { return replace<Types>(image, *tables, *old, *section); });
  }
  const auto layout = lay_out(image, *tables, *old);
  if (!layout) return std::unexpected(layout.error());
  const auto section = make(layout->section_address);
  if (!section) return std::unexpected(section.error());
  return with([&]<class Types>(Types) { return write<Types>(image, *tables, *layout, *old, *section); });
}

} // namespace sframe::elf
