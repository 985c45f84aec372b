// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing the file that rewrite_layout.h describes. Headers that stay are copied as they are, with those
// fields changed that have to.

#include "sframe/elf/rewrite.h"

#include "llvm_types.h"
#include "rewrite_layout.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace sframe::elf {

namespace {

constexpr std::string_view section_name = ".sframe";
constexpr std::uint64_t section_align = 8;

/// The section names with ".sframe" among them.
struct Names {
  std::string bytes;
  std::uint32_t offset = 0; ///< of ".sframe"
};

Names make_names(const Image& image, const Section& table) {
  const auto old = image.bytes().subspan(table.offset, table.size);
  Names names{std::string(reinterpret_cast<const char*>(old.data()), old.size()), 0};
  if (names.bytes.empty() || names.bytes.back() != '\0') names.bytes.push_back('\0');
  const std::string whole = std::string(1, '\0') + std::string(section_name) + '\0';
  std::size_t at = names.bytes.find(whole);
  if (at == std::string::npos) {
    at = names.bytes.size() - 1;
    names.bytes += whole.substr(1);
  }
  names.offset = static_cast<std::uint32_t>(at + 1);
  return names;
}

/// A structure of the file, to be written at an offset that has been checked.
template <class T> T* at(std::vector<std::byte>& out, std::uint64_t offset) {
  static_assert(alignof(T) == 1);
  return reinterpret_cast<T*>(out.data() + offset);
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

template <class Types>
void write_segments(const Image& image, const Tables& tables, const Layout& layout, std::uint64_t size,
                    std::vector<std::byte>& out) {
  using Phdr = typename Types::Phdr;
  const auto old = *table_at<Phdr>(image.bytes(), tables.program_offset, tables.program_count);
  Phdr* entry = at<Phdr>(out, layout.table_offset);
  const std::uint64_t table_size = layout.table_count() * sizeof(Phdr);
  const auto add_load = [&] {
    set_segment(*entry++, pt_load, layout.load_offset, layout.load_address,
                layout.section_offset - layout.load_offset + size, layout.align);
  };
  for (std::size_t i = 0; i < layout.segments.size(); ++i) {
    if (i == layout.load_position) add_load();
    *entry = old[layout.segments[i]];
    if (entry->p_type == llvm::ELF::PT_PHDR) {
      entry->p_filesz = table_size;
      entry->p_memsz = table_size;
      if (layout.table_moves) {
        entry->p_offset = layout.table_offset;
        entry->p_vaddr = layout.table_address;
        entry->p_paddr = layout.table_address;
      }
    }
    ++entry;
  }
  if (layout.load_position == layout.segments.size()) add_load();
  set_segment(*entry, pt_gnu_sframe, layout.section_offset, layout.section_address, size, section_align);
  auto& header = *at<typename Types::Ehdr>(out, 0);
  header.e_phoff = layout.table_offset;
  header.e_phnum = static_cast<std::uint16_t>(layout.table_count());
}

template <class Shdr>
void set_section(Shdr& section, std::uint64_t offset, std::uint64_t address, std::uint64_t size) {
  section.sh_type = sht_gnu_sframe;
  section.sh_flags = shf_alloc;
  section.sh_addr = address;
  section.sh_offset = offset;
  section.sh_size = size;
  section.sh_addralign = section_align;
}

/// Section names and section headers, appended to `out`.
template <class Types>
void write_sections(const Image& image, const Tables& tables, const Layout& layout, const OldSection& old,
                    std::uint64_t size, std::vector<std::byte>& out) {
  using Shdr = typename Types::Shdr;
  const auto headers = *table_at<Shdr>(image.bytes(), tables.section_offset, tables.section_count);
  const Names names = make_names(image, image.sections()[tables.names_index]);
  const std::uint64_t names_offset = out.size();
  const std::uint64_t offset = (names_offset + names.bytes.size() + 7) & ~std::uint64_t(7);
  const std::uint32_t index = old.section ? old.section->index : tables.section_count;
  const std::uint32_t count = std::max(tables.section_count, index + 1);
  out.resize(offset + count * sizeof(Shdr));
  std::memcpy(out.data() + names_offset, names.bytes.data(), names.bytes.size());
  Shdr* table = at<Shdr>(out, offset);
  std::ranges::copy(headers, table);
  table[tables.names_index].sh_offset = names_offset;
  table[tables.names_index].sh_size = names.bytes.size();
  set_section(table[index], layout.section_offset, layout.section_address, size);
  table[index].sh_name = names.offset;
  auto& header = *at<typename Types::Ehdr>(out, 0);
  header.e_shoff = offset;
  header.e_shnum = static_cast<std::uint16_t>(count);
}

std::vector<std::byte> write(const Image& image, const Tables& tables, const Layout& layout,
                             const OldSection& old, std::span<const std::byte> section) {
  const std::uint64_t end = layout.section_offset + section.size();
  std::vector<std::byte> out;
  // Room for what write_sections() appends, so that a large file is not moved in memory.
  const std::uint64_t names = tables.section_count ? image.sections()[tables.names_index].size : 0;
  out.reserve(end + names + section_name.size() + 16 +
              (tables.section_count + 1) * sizeof(llvm::ELF::Elf64_Shdr));
  const auto content = image.bytes().first(layout.content_end);
  out.assign(content.begin(), content.end());
  out.resize(end);
  std::ranges::copy(section, out.begin() + static_cast<std::ptrdiff_t>(layout.section_offset));
  with_types(image.byte_order(), [&]<class Types>(Types) {
    write_segments<Types>(image, tables, layout, section.size(), out);
    if (tables.section_count != 0) write_sections<Types>(image, tables, layout, old, section.size(), out);
  });
  return out;
}

/// True where a new section can take the old one's place: both kinds of header are there and agree, and it
/// is loaded.
bool is_replaceable(const Image& image, const OldSection& old) {
  if (old.load || old.size == 0 || !old.segment || old.address % section_align != 0) return false;
  const Segment& segment = *old.segment;
  // GNU ld reserves room before it merges: its segment may be larger than the section.
  if (segment.address != old.address || segment.offset != old.offset || segment.file_size < old.size)
    return false;
  const auto loaded = image.read(old.address, old.size);
  return loaded && loaded->data() == image.bytes().data() + old.offset;
}

std::vector<std::byte> replace(const Image& image, const Tables& tables, const OldSection& old,
                               std::span<const std::byte> section) {
  std::vector<std::byte> out(image.bytes().begin(), image.bytes().end());
  const auto place = std::span(out).subspan(old.offset, old.size);
  std::ranges::copy(section, place.begin());
  std::ranges::fill(place.subspan(section.size()), std::byte(0));
  with_types(image.byte_order(), [&]<class Types>(Types) {
    auto* segments = at<typename Types::Phdr>(out, tables.program_offset);
    set_segment(segments[old.segment - image.segments().data()], pt_gnu_sframe, old.offset, old.address,
                section.size(), section_align);
    if (old.section)
      set_section(at<typename Types::Shdr>(out, tables.section_offset)[old.section->index], old.offset,
                  old.address, section.size());
  });
  return out;
}

} // namespace

Result<std::vector<std::byte>> add_section(const Image& image, const SectionMaker& make) {
  const auto tables = read_tables(image);
  if (!tables) return std::unexpected(tables.error());
  const auto old = find_old(image, *tables);
  if (!old) return std::unexpected(old.error());
  if (is_replaceable(image, *old)) {
    const auto section = make(old->address);
    if (!section) return std::unexpected(section.error());
    if (section->size() <= old->size) return replace(image, *tables, *old, *section);
  }
  const auto layout = lay_out(image, *tables, *old);
  if (!layout) return std::unexpected(layout.error());
  const auto section = make(layout->section_address);
  if (!section) return std::unexpected(section.error());
  return write(image, *tables, *layout, *old, *section);
}

} // namespace sframe::elf
