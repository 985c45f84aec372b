// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An Opener adds sections by name. If a file has none, PT_GNU_EH_FRAME leads to .eh_frame_hdr, and that to
// .eh_frame, whose end is not recorded anywhere: eh_frame_part() finds it. In a linked file, absolute
// pointers in CFI may be filled in by dynamic relocations; the bytes are then a copy with the values that the
// loader stores. In a process's memory the loader has done so.

#include "sframe/cfi/image.h"

#include "sframe/elf/tagged_values.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sframe::cfi {

namespace {

/// The value of DT_PLTGOT, which in a process may be the address or the link address of the GOT.
std::optional<std::uint64_t> find_pltgot(const elf::Image& image, std::uint64_t bias,
                                         const BytesAt& bytes_at) {
  const elf::Segment* segment = image.find_segment(elf::pt_dynamic);
  if (!segment) return std::nullopt;
  const auto bytes = bytes_at(segment->address);
  const std::size_t size = std::min<std::uint64_t>(bytes.size(), segment->memory_size);
  const auto value = elf::find_value(bytes.first(size), image.byte_order(), elf::dt_pltgot);
  if (!value) return std::nullopt;
  const bool is_link_address = std::ranges::any_of(image.segments(), [&](const elf::Segment& s) {
    return s.type == elf::pt_load && s.memory().contains(*value);
  });
  return is_link_address ? *value : *value - bias;
}

/// The base of DW_EH_PE_datarel in .eh_frame: the GOT's address, which the C library's loader and libgcc take
/// from the dynamic segment.
Bases bases_of(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at) {
  for (const std::string_view name : {".got.plt", ".got"})
    if (const elf::SectionHeader* got = image.find_section(name)) return {.data = got->address};
  return {.data = find_pltgot(image, bias, bytes_at).value_or(0)};
}

class Opener {
public:
  Opener(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at, bool in_memory)
      : image_(image), abi_(*image.abi()), bytes_at_(bytes_at), in_memory_(in_memory),
        bases_(bases_of(image, bias, bytes_at)) {}

  void add_sections(std::string_view name, SectionKind kind);
  void add_segment();
  ImageCfi take() && { return std::move(cfi_); }

private:
  std::optional<EhFrameHdr> find_table();
  bool may_be_relocated(std::uint64_t address) const;
  std::span<const std::byte> relocated(std::uint64_t address, std::span<const std::byte> bytes);

  const elf::Image& image_;
  const AbiTraits& abi_;
  const BytesAt& bytes_at_;
  bool in_memory_; ///< where the loader has relocated it
  Bases bases_;
  ImageCfi cfi_;
};

/// The search table of .eh_frame. Objects have none.
std::optional<EhFrameHdr> Opener::find_table() {
  const elf::SectionHeader* section = image_.find_section(".eh_frame_hdr");
  if (!section || image_.relocatable()) return std::nullopt;
  auto contents = image_.contents(*section);
  if (!contents) return std::nullopt; // it is optional
  const auto table = EhFrameHdr::parse(contents->bytes(), section->address, abi_);
  if (!table) return std::nullopt;
  cfi_.storage.push_back(std::move(*contents));
  return *table;
}

/// True if the dynamic loader may change bytes there.
bool Opener::may_be_relocated(std::uint64_t address) const {
  for (const elf::Segment& segment : image_.segments())
    if (segment.type == elf::pt_load && segment.flags & elf::pf_w && segment.memory().contains(address))
      return true;
  const elf::Segment* dynamic = image_.find_segment(elf::pt_dynamic);
  if (!dynamic) return false;
  const auto bytes = image_.bytes_at(dynamic->address);
  const auto pairs = bytes.first(std::min<std::uint64_t>(bytes.size(), dynamic->memory_size));
  const auto value = [&](std::uint64_t tag) { return elf::find_value(pairs, image_.byte_order(), tag); };
  return value(elf::dt_textrel) || value(elf::dt_flags).value_or(0) & elf::df_textrel;
}

/// The bytes of a linked file as the loader leaves them: absolute pointers of CFI have relocations if a
/// linker that does not make them relative was given `-z notext`.
std::span<const std::byte> Opener::relocated(std::uint64_t address, std::span<const std::byte> bytes) {
  if (image_.relocatable() || bytes.empty() || !may_be_relocated(address)) return bytes;
  const auto pointers = image_.loaded_pointers();
  const auto first = std::ranges::lower_bound(pointers, address, {}, &elf::Image::LoadedPointer::address);
  constexpr std::uint64_t size = sizeof(std::uint64_t);
  const auto is_inside = [&](const elf::Image::LoadedPointer& pointer) {
    return bytes.size() >= size && pointer.address - address <= bytes.size() - size;
  };
  if (first == pointers.end() || !is_inside(*first)) return bytes;
  std::vector<std::byte> changed(bytes.begin(), bytes.end());
  for (auto pointer = first; pointer != pointers.end() && is_inside(*pointer); ++pointer)
    store_sized(changed.data() + (pointer->address - address), pointer->value, size, abi_.byte_order);
  cfi_.storage.push_back(elf::Contents(std::move(changed)));
  return cfi_.storage.back().bytes();
}

/// The sections of that name. A linked file has one; `ld -r` may leave several in an object.
void Opener::add_sections(std::string_view name, SectionKind kind) {
  for (const elf::SectionHeader& section : image_.sections()) {
    if (!section.is_named(name)) continue;
    auto contents = image_.relocated_contents(section);
    if (!contents) {
      cfi_.problems.push_back(contents.error());
      continue;
    }
    if (contents->empty()) continue;
    cfi_.storage.push_back(std::move(*contents));
    std::span<const std::byte> bytes = cfi_.storage.back().bytes();
    if (section.allocated()) bytes = relocated(section.address, bytes);
    cfi_.sections.push_back({CfiSection(kind, bytes, section.address, abi_, bases_),
                             kind == SectionKind::eh_frame ? find_table() : std::nullopt, section.index});
    if (!image_.relocatable()) break;
  }
}

void Opener::add_segment() {
  const elf::Segment* segment = image_.find_segment(elf::pt_gnu_eh_frame);
  if (!segment) return;
  auto header = bytes_at_(segment->address);
  header = header.first(std::min<std::uint64_t>(header.size(), segment->memory_size));
  const auto address = EhFrameHdr::find_eh_frame(header, segment->address, abi_);
  if (!address) return;
  std::optional<EhFrameHdr> table; // without one, an index is made
  if (auto parsed = EhFrameHdr::parse(header, segment->address, abi_)) table = *parsed;
  auto bytes = bytes_at_(*address);
  if (!in_memory_) bytes = relocated(*address, bytes);
  const CfiSection rest(SectionKind::eh_frame, bytes, *address, abi_, bases_);
  if (const CfiSection frames = eh_frame_part(rest, table); !frames.bytes().empty())
    cfi_.sections.push_back({frames, table, 0});
}

} // namespace

ImageCfi open_cfi(const elf::Image& image, CfiKinds kinds) {
  if (!image.abi()) return {};
  const BytesAt bytes_at = [&](std::uint64_t address) { return image.bytes_at(address); };
  Opener opener(image, 0, bytes_at, false);
  if (kinds.eh_frame) {
    opener.add_sections(".eh_frame", SectionKind::eh_frame);
    // A section without bytes means that they are in another file.
    if (!image.find_section(".eh_frame") && !image.relocatable()) opener.add_segment();
  }
  if (kinds.debug_frame) opener.add_sections(".debug_frame", SectionKind::debug_frame);
  return std::move(opener).take();
}

ImageCfi open_cfi_in_memory(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at) {
  if (!image.abi()) return {};
  Opener opener(image, bias, bytes_at, true);
  opener.add_segment();
  return std::move(opener).take();
}

} // namespace sframe::cfi
