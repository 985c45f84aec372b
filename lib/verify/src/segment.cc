// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "table_checks.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sframe::verify {

namespace {

std::string range_text(std::uint64_t address, std::uint64_t size) {
  return llvm::formatv("{:x}, {} bytes", address, size).str();
}

struct Fault {
  Id id{};
  std::string what;
};

/// True if the segment begins with the section and holds all of it.
bool holds(const elf::Segment& segment, const elf::SectionHeader& section) {
  return segment.address == section.address && segment.offset == section.offset &&
         segment.file_size >= section.size && segment.memory_size >= section.size;
}

std::string difference(const elf::Segment& segment, const elf::SectionHeader& section) {
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

/// The fault of the program header, if any.
std::optional<Fault> fault(const Input& input, const elf::Image& image, const elf::Segment& segment) {
  const auto tables = input.tables();
  if (tables.empty() || !tables.front().section) {
    if (image.sections().empty()) return std::nullopt;
    return Fault{Id::S024, "PT_GNU_SFRAME without a section .sframe"};
  }
  const auto held = std::ranges::find_if(
      tables, [&](const SframeTable& table) { return table.section && holds(segment, *table.section); });
  if (held == tables.end()) return Fault{Id::S024, difference(segment, *tables.front().section)};
  if (!in_one_mapping(image, segment.address, segment.memory_size, elf::pf_r))
    return Fault{Id::S024, "PT_GNU_SFRAME is not inside a readable PT_LOAD"};
  const std::uint64_t size = held->section->size;
  if (segment.file_size == size && segment.memory_size == size) return std::nullopt;
  return Fault{Id::S019, difference(segment, *held->section)};
}

} // namespace

bool in_one_mapping(const elf::Image& image, std::uint64_t address, std::uint64_t size, std::uint32_t flags) {
  return std::ranges::any_of(image.segments(), [&](const elf::Segment& segment) {
    return segment.type == elf::pt_load && (segment.flags & flags) == flags &&
           segment.memory().contains({address, size});
  });
}

void check_segment(const Input& input, Sink& sink) {
  const elf::Image* image = input.sframe_image();
  if (!image || image->relocatable()) return;
  const elf::Segment* segment = image->find_segment(elf::pt_gnu_sframe);
  if (!segment) return;
  if (auto found = fault(input, *image, *segment))
    sink.add({.id = found->id, .message = std::move(found->what)});
}

void check_loaded(const Input& input, Sink& sink) {
  const elf::Image* image = input.image();
  if (!image || image->relocatable()) return;
  std::vector<AddressRange> ranges;
  for (const elf::Segment& segment : image->segments())
    if (segment.type == elf::pt_load) ranges.push_back(segment.memory());
  const AddressSet loaded(std::move(ranges));

  const OwnedRange* first = nullptr;
  std::uint64_t lost = 0;
  for (const OwnedRange& function : input.functions()) {
    if (loaded.contains(AddressRange::between(function.begin, function.end))) continue;
    if (!first) first = &function;
    ++lost;
  }
  if (!first) return;
  const std::string more = lost == 1 ? std::string() : llvm::formatv(" and {} more", lost - 1).str();
  sink.add(input.finding(Id::S025, first->begin, first->end, "no PT_LOAD contains this function" + more));
}

} // namespace sframe::verify
