// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/llvm_input.h"

#include "llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace sframe::elf {

namespace {

using namespace llvm::ELF;

bool is_in_file(const Image& image, const SectionHeader& section) {
  return section.offset <= image.bytes().size() && section.size <= image.bytes().size() - section.offset;
}

bool is_debug(const SectionHeader& section) {
  return section.name.starts_with(".debug_");
}

bool is_compressed(const SectionHeader& section) {
  return section.flags & shf_compressed;
}

/// LLVM assumes each of these conditions.
bool has_valid_relocations(const Image& image, const SectionHeader& section) {
  const std::uint64_t entry = section.type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
  return is_in_file(image, section) && section.entsize == entry && section.size % entry == 0 &&
         section.link < image.sections().size();
}

/// The uncompressed size in the header of a compressed section; nothing if the file does not hold that
/// header.
std::optional<std::uint64_t> claimed_size(const Image& image, const SectionHeader& section) {
  if (!is_in_file(image, section)) return std::nullopt;
  const auto bytes = image.bytes().subspan(section.offset, section.size);
  return with_types(image.byte_order(), [&]<class Types>(Types) -> std::optional<std::uint64_t> {
    const auto header = table_at<typename Types::Chdr>(bytes, 0, 1);
    if (!header) return std::nullopt;
    return static_cast<std::uint64_t>((*header)[0].ch_size);
  });
}

} // namespace

bool is_fit_for_llvm_dwarf(const Image& image) {
  std::uint64_t left = (std::uint64_t(64) << 20) + 64 * std::uint64_t(image.bytes().size());
  for (const SectionHeader& section : image.sections()) {
    if (is_compressed(section)) {
      const std::uint64_t size = claimed_size(image, section).value_or(0); // LLVM reports a missing header
      if (size > left) return false;
      left -= size;
    }
    if (!image.relocatable()) continue; // LLVM does not read relocations here
    if ((section.type == SHT_REL || section.type == SHT_RELA) && !has_valid_relocations(image, section))
      return false;
    if (section.type == SHT_CREL && !is_in_file(image, section)) return false;
  }
  return true;
}

bool has_compressed_sections(const Image& image) {
  return std::ranges::any_of(image.sections(), is_compressed);
}

Result<std::vector<std::byte>> without_compression(const Image& image, bool unlimited) {
  constexpr std::uint64_t least = std::uint64_t{2} << 20, times = 8;
  std::uint64_t left = least + times * image.bytes().size();
  if (unlimited) left = std::numeric_limits<std::uint64_t>::max();
  constexpr int most_sections = 64; // DWARF has less than 20
  int count = 0;
  for (const SectionHeader& section : image.sections()) {
    if (!is_debug(section)) continue;
    constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t size =
        is_compressed(section) ? claimed_size(image, section).value_or(unknown) : section.size;
    if (size > left || ++count > most_sections)
      return fail("implausible decompressed size: no source lines", section.name);
    left -= size;
  }
  return with_types(image.byte_order(), [&]<class Types>(Types) -> Result<std::vector<std::byte>> {
    using Header = typename Types::Ehdr;
    using Shdr = typename Types::Shdr;
    std::vector<std::byte> out(sizeof(Header));
    std::vector<Shdr> headers(1);
    std::memset(headers.data(), 0, sizeof(Shdr));
    std::string names(1, '\0');
    const auto add = [&](std::string_view name, std::uint32_t type, std::span<const std::byte> bytes) {
      Shdr header;
      std::memset(&header, 0, sizeof header);
      header.sh_name = static_cast<std::uint32_t>(names.size());
      header.sh_type = type;
      header.sh_offset = out.size();
      header.sh_size = bytes.size();
      header.sh_addralign = 1;
      headers.push_back(header);
      names.append(name).push_back('\0');
      out.insert(out.end(), bytes.begin(), bytes.end());
    };
    for (const SectionHeader& section : image.sections()) {
      if (!is_debug(section)) continue;
      const auto contents = image.contents(section);
      if (!contents) return unexpected(contents.error());
      add(section.name, sht_progbits, contents->bytes());
    }
    constexpr std::string_view of_names = ".shstrtab";
    const std::size_t names_size = names.size() + of_names.size() + 1;
    add(of_names, sht_strtab, {});
    headers.back().sh_offset = out.size();
    headers.back().sh_size = names_size;
    const auto text = std::as_bytes(std::span(names));
    out.insert(out.end(), text.begin(), text.end());
    out.resize((out.size() + 7) & ~std::size_t{7});
    Header header;
    std::memset(&header, 0, sizeof header);
    std::memcpy(&header, image.bytes().data(), EI_NIDENT);
    header.e_type = ET_EXEC;
    header.e_machine = image.machine();
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shoff = out.size();
    header.e_shentsize = sizeof(Shdr);
    header.e_shnum = static_cast<std::uint16_t>(headers.size());
    header.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
    std::memcpy(out.data(), &header, sizeof header);
    const auto table = std::as_bytes(std::span(headers));
    out.insert(out.end(), table.begin(), table.end());
    return out;
  });
}

} // namespace sframe::elf
