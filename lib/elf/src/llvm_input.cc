// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/llvm_input.h"

#include "llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>

namespace sframe::elf {

namespace {

using namespace llvm::ELF;

bool is_in_file(const Image& image, const Section& section) {
  return section.offset <= image.bytes().size() && section.size <= image.bytes().size() - section.offset;
}

/// LLVM assumes each of these conditions.
bool is_sound_relocations(const Image& image, const Section& section) {
  const std::uint64_t entry = section.type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
  return is_in_file(image, section) && section.entsize == entry && section.size % entry == 0 &&
         section.link < image.sections().size();
}

} // namespace

std::optional<std::uint64_t> claimed_size(const Image& image, const Section& section) {
  if (!is_in_file(image, section)) return std::nullopt;
  const auto bytes = image.bytes().subspan(section.offset, section.size);
  return with_types(image.byte_order(), [&]<class Types>(Types) -> std::optional<std::uint64_t> {
    const auto header = table_at<typename Types::Chdr>(bytes, 0, 1);
    if (!header) return std::nullopt;
    return static_cast<std::uint64_t>((*header)[0].ch_size);
  });
}

bool is_fit_for_llvm_dwarf(const Image& image) {
  std::uint64_t left = (std::uint64_t(64) << 20) + 64 * std::uint64_t(image.bytes().size());
  for (const Section& section : image.sections()) {
    if (section.flags & shf_compressed) {
      const std::uint64_t size = claimed_size(image, section).value_or(0); // LLVM reports a missing header
      if (size > left) return false;
      left -= size;
    }
    if (!image.relocatable()) continue; // LLVM does not read relocations here
    if ((section.type == SHT_REL || section.type == SHT_RELA) && !is_sound_relocations(image, section)) return false;
    if (section.type == SHT_CREL && !is_in_file(image, section)) return false;
  }
  return true;
}

} // namespace sframe::elf
