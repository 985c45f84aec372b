// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/cfi/image.h"

#include "sframe/elf/tagged_values.h"

#include <algorithm>
#include <string_view>

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
  Opener(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at)
      : image_(image), abi_(*image.abi()), bytes_at_(bytes_at), bases_(bases_of(image, bias, bytes_at)) {}

  void add_sections(std::string_view name, SectionKind kind);
  void add_segment();
  ImageCfi take() && { return std::move(cfi_); }

private:
  std::optional<EhFrameHdr> find_table();

  const elf::Image& image_;
  const AbiTraits& abi_;
  const BytesAt& bytes_at_;
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

/// The sections of that name. A linked file has one; `ld -r` may leave several in an object.
void Opener::add_sections(std::string_view name, SectionKind kind) {
  for (const elf::SectionHeader& section : image_.sections()) {
    if (section.name != name) continue;
    auto contents = image_.relocated_contents(section);
    if (!contents) {
      cfi_.problems.push_back(contents.error());
      continue;
    }
    if (contents->empty()) continue;
    cfi_.storage.push_back(std::move(*contents));
    const std::span<const std::byte> bytes = cfi_.storage.back().bytes();
    cfi_.sections.push_back({CfiSection(kind, bytes, section.address, abi_, bases_),
                             kind == SectionKind::eh_frame ? find_table() : std::nullopt, section.index});
    if (!image_.relocatable()) break;
  }
}

void Opener::add_segment() {
  const elf::Segment* segment = image_.find_segment(elf::pt_gnu_eh_frame);
  if (!segment) return;
  const auto header = bytes_at_(segment->address);
  const auto table = EhFrameHdr::parse(
      header.first(std::min<std::uint64_t>(header.size(), segment->memory_size)), segment->address, abi_);
  if (!table || !table->eh_frame()) return;
  const CfiSection rest(SectionKind::eh_frame, bytes_at_(*table->eh_frame()), *table->eh_frame(), abi_,
                        bases_);
  if (const CfiSection frames = eh_frame_part(rest, *table); !frames.bytes().empty())
    cfi_.sections.push_back({frames, *table, 0});
}

} // namespace

ImageCfi open_cfi(const elf::Image& image, CfiKinds kinds) {
  if (!image.abi()) return {};
  const BytesAt bytes_at = [&](std::uint64_t address) { return image.bytes_at(address); };
  Opener opener(image, 0, bytes_at);
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
  Opener opener(image, bias, bytes_at);
  opener.add_segment();
  return std::move(opener).take();
}

} // namespace sframe::cfi
