// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "padding.h"

#include "sframe/builder.h"

namespace sframe::verify {

Padding::Padding(const Input& input) : input_(input) {
  const elf::Image* const image = input.image();
  if (image && image->abi()) code_.emplace(*image->abi());
}

/// The bytes in the file; of an object, without relocations, which leave the kinds of instructions as they
/// are.
std::optional<std::span<const std::byte>> Padding::read(std::uint64_t begin, std::uint64_t end) const {
  const elf::Image& image = *input_.image();
  if (!image.relocatable()) return image.read(begin, end - begin);
  const Location at = input_.locate(begin);
  if (at.section >= image.sections().size()) return std::nullopt;
  const elf::SectionHeader& section = image.sections()[at.section];
  if (section.type == elf::sht_nobits || section.flags & elf::shf_compressed ||
      !AddressRange{0, section.size}.contains(AddressRange{at.pc, end - begin}) ||
      !AddressRange{0, image.bytes().size()}.contains(AddressRange{section.offset, section.size}))
    return std::nullopt;
  return image.bytes().subspan(section.offset + at.pc, end - begin);
}

bool Padding::holds(std::uint64_t begin, std::uint64_t end) {
  if (!code_ || begin >= end || end - begin > OptimizeOptions::max_gap) return false;
  const auto bytes = read(begin, end);
  return bytes && code_->is_padding(*bytes, begin, input_.budget());
}

bool Padding::follows_call(std::uint64_t row_begin, std::uint64_t begin) {
  if (!code_ || row_begin >= begin) return false;
  const auto bytes = read(row_begin, begin);
  return bytes && code_->ends_with_call(*bytes, row_begin, input_.budget());
}

} // namespace sframe::verify
