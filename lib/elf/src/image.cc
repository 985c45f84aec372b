// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers of an ELF file, and mapping of addresses to bytes. The bytes of sections are in contents.cc,
// relocations in relocations.cc.

#include "sframe/elf/image.h"

#include "sframe/elf/file_kind.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/notes.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace sframe::elf {

namespace {

template <class Types>
std::vector<SectionHeader> decode_sections(std::span<const std::byte> bytes, std::vector<Problem>& problems) {
  std::vector<SectionHeader> result;
  auto file = llvm::object::ELFFile<Types>::create(to_llvm(bytes));
  if (!file) {
    problems.push_back(to_problem(file.takeError(), {}));
    return result;
  }
  auto headers = file->sections();
  if (!headers) {
    problems.push_back(to_problem(headers.takeError(), {}));
    return result;
  }
  std::span<const std::byte> names;
  if (!headers->empty()) {
    auto table = file->getSectionStringTable(*headers);
    if (table)
      names = std::as_bytes(std::span(table->data(), table->size()));
    else
      problems.push_back(to_problem(table.takeError(), {}));
  }
  result.reserve(headers->size());
  for (const auto& header : *headers)
    result.push_back({static_cast<std::uint32_t>(result.size()),
                      string_at(names, header.sh_name, max_section_name), header.sh_type, header.sh_flags,
                      header.sh_addr, header.sh_offset, header.sh_size, header.sh_link, header.sh_info,
                      header.sh_addralign, header.sh_entsize});
  return result;
}

/// Not LLVM's reader: that requires valid section headers even if their number is 0, and truncated cores have
/// invalid ones.
template <class Types>
std::vector<Segment> decode_segments(std::span<const std::byte> bytes,
                                     std::span<const SectionHeader> sections,
                                     std::vector<Problem>& problems) {
  const auto& header = table_at<typename Types::Ehdr>(bytes, 0, 1)->front();
  std::uint64_t count = header.e_phnum;
  if (count == llvm::ELF::PN_XNUM && !sections.empty()) count = sections[0].info;
  std::vector<Segment> result;
  if (count == 0) return result;
  if (header.e_phentsize != sizeof(typename Types::Phdr)) {
    problems.push_back({"unsupported size of a program header", {}, std::nullopt});
    return result;
  }
  auto table = table_at<typename Types::Phdr>(bytes, header.e_phoff, count);
  if (!table) {
    problems.push_back({"program headers run past the end of the file", {}, header.e_phoff});
    return result;
  }
  result.reserve(count);
  for (const auto& segment : *table)
    result.push_back({segment.p_type, segment.p_flags, segment.p_offset, segment.p_vaddr, segment.p_filesz,
                      segment.p_memsz, segment.p_align});
  return result;
}

} // namespace

bool Image::is_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && to_llvm(bytes).starts_with(llvm::StringRef("\x7f"
                                                                         "ELF",
                                                                         4));
}

bool Image::is_32_bit(std::span<const std::byte> bytes) {
  return is_elf(bytes) && bytes.size() > llvm::ELF::EI_CLASS &&
         bytes[llvm::ELF::EI_CLASS] == std::byte(llvm::ELF::ELFCLASS32);
}

Result<Image> Image::parse(std::span<const std::byte> bytes, Budget* budget) {
  using namespace llvm::ELF;
  if (!is_elf(bytes)) return fail(with_file_kind("not an ELF file", bytes));
  if (bytes.size() < EI_NIDENT) return fail("ELF header runs past the end of the file");
  const auto file_class = static_cast<unsigned>(bytes[EI_CLASS]);
  const auto data = static_cast<unsigned>(bytes[EI_DATA]);
  if (is_32_bit(bytes)) return fail(is_32_bit_text);
  if (file_class != ELFCLASS64) return fail("unknown ELF class", {}, EI_CLASS);
  if (data != ELFDATA2LSB && data != ELFDATA2MSB) return fail("unknown ELF byte order", {}, EI_DATA);
  if (bytes.size() < sizeof(Elf64_Ehdr)) return fail("ELF header runs past the end of the file");

  Image image;
  image.bytes_ = bytes;
  image.budget_ = budget;
  image.order_ = data == ELFDATA2LSB ? ByteOrder::little : ByteOrder::big;
  with_types(image.order_, [&]<class Types>(Types) {
    const auto& header = table_at<typename Types::Ehdr>(bytes, 0, 1)->front();
    image.machine_ = header.e_machine;
    image.type_ = header.e_type;
    image.flags_ = header.e_flags;
    image.entry_ = header.e_entry;
    image.sections_ = decode_sections<Types>(bytes, image.problems_);
    image.segments_ = decode_segments<Types>(bytes, image.sections_, image.problems_);
  });
  image.index_extents();
  image.go_build_id_ = image.find_build_id(BuildIdNote::go);
  image.build_id_ = image.find_build_id(BuildIdNote::gnu);
  if (image.build_id_.empty()) image.build_id_ = image.go_build_id_;
  image.index_relocations();
  image.index_section_numbers();
  return image;
}

void Image::index_extents() {
  auto add = [&](std::uint64_t address, std::uint64_t offset, std::uint64_t size, bool executable) {
    if (offset > bytes_.size()) return;
    size = std::min<std::uint64_t>(size, bytes_.size() - offset);
    if (address != 0) size = std::min(size, 0 - address); // no wrap around the address space
    if (size != 0) extents_.push_back({{address, size}, offset, executable});
  };
  for (const Segment& segment : segments_)
    if (segment.type == pt_load)
      add(segment.address, segment.offset, segment.file_size, segment.flags & pf_x);
  by_segments_ = !segments_.empty();
  if (!by_segments_)
    for (const SectionHeader& section : sections_)
      if (section.allocated() && section.type != sht_nobits)
        add(section.address, section.offset, section.size, section.executable());
  std::ranges::stable_sort(extents_, {}, &Extent::start);
}

const Image::Extent* Image::extent_at(std::uint64_t address) const {
  if (by_segments_) return range_at(extents_, address);
  // Sections may share addresses.
  const auto found = std::ranges::find_if(extents_, [&](const Extent& e) { return e.contains(address); });
  return found == extents_.end() ? nullptr : &*found;
}

std::span<const std::byte> Image::bytes_at(std::uint64_t address) const {
  const Extent* extent = extent_at(address);
  if (!extent) return {};
  const std::uint64_t skip = address - extent->start;
  return bytes_.subspan(extent->offset + skip, extent->size - skip);
}

std::optional<std::span<const std::byte>> Image::read(std::uint64_t address, std::uint64_t size) const {
  auto bytes = bytes_at(address);
  if (bytes.size() < size) return std::nullopt;
  return bytes.first(size);
}

bool Image::is_executable(std::uint64_t address) const {
  const Extent* extent = extent_at(address);
  return extent && extent->executable;
}

std::vector<CodeRange> Image::executable_ranges() const {
  std::vector<CodeRange> result;
  for (const SectionHeader& section : sections_)
    if (section.allocated() && section.executable() && section.size != 0)
      result.push_back({section.memory(), section.index});
  if (sections_.empty())
    for (const Segment& segment : segments_)
      if (segment.type == pt_load && segment.flags & pf_x && segment.memory_size != 0)
        result.push_back({segment.memory(), 0});
  std::ranges::stable_sort(result, {}, &CodeRange::start);
  return result;
}

AddressSet Image::executable_addresses() const {
  const auto ranges = executable_ranges();
  return AddressSet({ranges.begin(), ranges.end()});
}

std::vector<SectionHeader> Image::plt_sections() const {
  constexpr std::array<std::string_view, 5> names = {".iplt", ".plt", ".plt.bnd", ".plt.got", ".plt.sec"};
  std::vector<SectionHeader> found;
  std::ranges::copy_if(sections_, std::back_inserter(found), [&](const SectionHeader& section) {
    return section.executable() && std::ranges::find(names, section.name) != names.end();
  });
  return found;
}

const SectionHeader* Image::find_section(std::string_view name) const {
  auto found = std::ranges::find_if(sections_, [&](const SectionHeader& s) { return s.is_named(name); });
  return found == sections_.end() ? nullptr : &*found;
}

const Segment* Image::find_segment(std::uint32_t type) const {
  auto found = std::ranges::find(segments_, type, &Segment::type);
  return found == segments_.end() ? nullptr : &*found;
}

std::vector<SframeLocation> Image::sframe_tables(std::string_view name) const {
  std::vector<SframeLocation> result;
  const bool any_of_type = name == ".sframe";
  for (const SectionHeader& section : sections_)
    if (section.type != sht_nobits && section.type != sht_null &&
        (section.name == name || (any_of_type && section.type == sht_gnu_sframe)))
      result.push_back({section.name, section.address, &section, nullptr});
  if (!result.empty() || !any_of_type) return result;
  const Segment* segment = find_segment(pt_gnu_sframe);
  if (segment && segment->file_size != 0)
    result.push_back({"PT_GNU_SFRAME", segment->address, nullptr, segment});
  return result;
}

std::span<const std::byte> Image::find_build_id(BuildIdNote kind) const {
  unsigned tries = 16; // bounds the cost of a file that names the same notes a thousand times
  std::span<const std::byte> id;
  auto look = [&](std::uint64_t offset, std::uint64_t size, std::uint64_t align) {
    auto notes = raw(offset, size, {});
    if (notes) id = build_id_in_notes(*notes, order_, align, kind);
    return !id.empty() || --tries == 0;
  };
  for (const SectionHeader& section : sections_)
    if (section.type == sht_note && section.name == ".note.gnu.build-id" &&
        look(section.offset, section.size, section.align))
      break;
  for (const Segment& segment : segments_)
    if (!id.empty() || tries == 0 ||
        (segment.type == pt_note && look(segment.offset, segment.file_size, segment.align)))
      break;
  return id;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::byte byte : bytes) {
    text.push_back(digits[static_cast<unsigned>(byte) >> 4]);
    text.push_back(digits[static_cast<unsigned>(byte) & 15]);
  }
  return text;
}

bool has_go_code(const Image& image) {
  return std::ranges::any_of(image.sections(), [](const SectionHeader& section) {
    return section.name == ".gopclntab" || section.name == ".go.buildinfo" ||
           section.name == ".data.rel.ro.gopclntab";
  });
}

std::string build_id_path(std::span<const std::byte> build_id, std::string_view extension) {
  if (build_id.size() < 2) return {};
  std::string path = ".build-id/" + to_hex(build_id.first(1)) + '/' + to_hex(build_id.subspan(1));
  return path += extension;
}

} // namespace sframe::elf
