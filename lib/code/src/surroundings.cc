// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant data of an ELF image, as it is after loading.

#include "sframe/code/surroundings.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::code {
namespace {

/// R_X86_64_RELATIVE, R_AARCH64_RELATIVE, R_390_RELATIVE. The numbers differ; none of them means another
/// relocation with an addend and no symbol on another machine.
bool is_relative(std::uint32_t type) {
  return type == 8 || type == 1027 || type == 12;
}

} // namespace

ImageSurroundings::ImageSurroundings(const elf::Image& image)
    : image_(&image), code_(image.executable_ranges()) {
  constexpr std::size_t entry_size = 24; // Elf64_Rela
  for (const elf::Section& section : image.sections()) {
    if (section.type != elf::sht_rela || !section.allocated()) continue;
    const auto bytes = image.read(section.address, section.size);
    if (!bytes) continue;
    for (std::size_t at = 0; at + entry_size <= bytes->size(); at += entry_size) {
      const std::uint64_t info = load<std::uint64_t>(bytes->data() + at + 8, image.byte_order());
      if (!is_relative(static_cast<std::uint32_t>(info)) || info >> 32) continue;
      pointers_.emplace_back(load<std::uint64_t>(bytes->data() + at, image.byte_order()),
                             load<std::uint64_t>(bytes->data() + at + 16, image.byte_order()));
    }
  }
  if (!std::ranges::is_sorted(pointers_)) std::ranges::sort(pointers_);
}

std::span<const std::byte> ImageSurroundings::constant_data(std::uint64_t address, std::uint64_t size) {
  return image_->read(address, size).value_or(std::span<const std::byte>{});
}

std::span<const std::byte> ImageSurroundings::code(std::uint64_t address, std::uint64_t size) {
  const auto above = std::ranges::upper_bound(code_, address, {}, &elf::CodeRange::address);
  if (above == code_.begin() || address - above[-1].address >= above[-1].size) return {};
  return constant_data(address, std::min(size, above[-1].size - (address - above[-1].address)));
}

std::optional<std::uint64_t> ImageSurroundings::constant_pointer(std::uint64_t address) {
  const auto at = std::ranges::lower_bound(pointers_, address, {}, &decltype(pointers_)::value_type::first);
  if (at != pointers_.end() && at->first == address) return at->second;
  const auto bytes = image_->read(address, 8);
  if (!bytes) return std::nullopt;
  return load<std::uint64_t>(bytes->data(), image_->byte_order());
}

} // namespace sframe::code
