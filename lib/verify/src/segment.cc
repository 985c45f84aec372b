// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "segment.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

std::string range_text(std::uint64_t address, std::uint64_t size) {
  return llvm::formatv("{:x}, {} bytes", address, size).str();
}

/// What is wrong with the program header; empty where nothing is.
std::string fault(const Input& input, const elf::Image& image, const elf::Segment& segment) {
  const auto tables = input.tables();
  if (tables.empty() || !tables.front().section)
    return image.sections().empty() ? "" : "PT_GNU_SFRAME is there, but no section .sframe";
  const auto agrees = [&](const SframeTable& table) {
    return segment.address == table.address && segment.offset == table.section->offset &&
           segment.file_size == table.section->size && segment.memory_size == table.section->size;
  };
  if (!std::ranges::any_of(tables, agrees)) {
    const elf::Section& section = *tables.front().section;
    std::string text =
        llvm::formatv("PT_GNU_SFRAME is {}, the section {}", range_text(segment.address, segment.file_size),
                      range_text(section.address, section.size))
            .str();
    if (segment.file_size != segment.memory_size)
      text += llvm::formatv("; p_memsz is {}", segment.memory_size).str();
    if (segment.address == section.address && segment.offset != section.offset)
      text += llvm::formatv("; file offset {:x}, not {:x}", segment.offset, section.offset).str();
    return text;
  }
  if (!in_one_mapping(image, segment.address, segment.memory_size, elf::pf_r))
    return "PT_GNU_SFRAME is in no readable PT_LOAD";
  return {};
}

} // namespace

bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags) {
  return std::ranges::any_of(image.segments(), [&](const elf::Segment& segment) {
    return segment.type == elf::pt_load && (segment.flags & flags) == flags && address >= segment.address &&
           address - segment.address <= segment.memory_size &&
           size <= segment.memory_size - (address - segment.address);
  });
}

void check_segment(const Input& input, Sink& sink) {
  const elf::Image* image = input.sframe_image();
  if (!image || image->relocatable()) return;
  const elf::Segment* segment = image->find_segment(elf::pt_gnu_sframe);
  if (!segment) return;
  if (std::string message = fault(input, *image, *segment); !message.empty())
    sink.add({.id = Id::S019, .message = std::move(message)});
}

} // namespace sframe::verify
