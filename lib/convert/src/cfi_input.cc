// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/convert/cfi_input.h"

#include "sframe/cfi/index.h"

#include <string_view>

namespace sframe::conversion {

namespace {

/// What DW_EH_PE_datarel counts from in .eh_frame.
cfi::Bases bases_of(const elf::Image& image) {
  for (std::string_view name : {".got.plt", ".got"})
    if (const elf::Section* got = image.find_section(name)) return {.text = 0, .data = got->address};
  return {};
}

/// The sections of a name. A linked file has one; `ld -r` may leave several in an object.
elf::Result<void> add_sections(const elf::Image& image, std::string_view name, cfi::SectionKind kind,
                               CfiInput& input) {
  for (const elf::Section& section : image.sections()) {
    if (section.name != name) continue;
    auto contents = image.relocated_contents(section);
    if (!contents) return std::unexpected(contents.error());
    if (contents->empty()) continue;
    input.storage.push_back(std::move(*contents));
    input.sections.emplace_back(kind, input.storage.back().bytes(), section.address, *input.abi,
                                bases_of(image));
    if (!image.relocatable()) break;
  }
  return {};
}

/// The segment that holds .eh_frame goes on behind it with other tables; its terminator is the only mark.
cfi::Section up_to_terminator(const cfi::Section& section) {
  std::uint64_t end = 0;
  cfi::FdeCursor fdes = section.fdes();
  for (;;) {
    const auto fde = fdes.next();
    if (!fde || !*fde || (*fde)->after_terminator) break;
    end = fdes.offset();
  }
  return {section.kind(), section.bytes().first(end), section.address(), section.abi(), section.bases()};
}

void add_from_segment(const elf::Image& image, CfiInput& input) {
  const elf::Segment* segment = image.find_segment(elf::pt_gnu_eh_frame);
  if (!segment) return;
  const auto bytes = image.contents(*segment);
  if (!bytes) return;
  const auto header = cfi::EhFrameHdr::parse(bytes->bytes(), segment->address, *input.abi);
  if (!header || !header->eh_frame()) return;
  const cfi::Section rest(cfi::SectionKind::eh_frame, image.bytes_at(*header->eh_frame()),
                          *header->eh_frame(), *input.abi);
  if (cfi::Section section = up_to_terminator(rest); !section.bytes().empty())
    input.sections.push_back(section);
}

} // namespace

elf::Result<CfiInput> CfiInput::from_image(const elf::Image& image) {
  CfiInput input;
  input.abi = image.abi();
  if (!input.abi)
    return elf::fail("SFrame has no ABI for this machine (e_machine " + std::to_string(image.machine()) +
                     ")");
  if (auto added = add_sections(image, ".eh_frame", cfi::SectionKind::eh_frame, input); !added)
    return std::unexpected(added.error());
  if (input.sections.empty() && image.sections().empty()) add_from_segment(image, input);
  if (auto added = add_sections(image, ".debug_frame", cfi::SectionKind::debug_frame, input); !added)
    return std::unexpected(added.error());
  for (const elf::CodeRange& code : image.executable_ranges())
    input.code.push_back({code.address, code.size});
  for (const elf::Section& plt : image.plt_sections())
    input.plts.push_back({{plt.address, plt.size},
                          image.read(plt.address, plt.size).value_or(std::span<const std::byte>{})});
  return input;
}

} // namespace sframe::conversion
