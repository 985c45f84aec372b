// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// is_fit_for_llvm_dwarf() checks what LLVM assumes of the section headers, and adds up what it would
// decompress: at most 64 MiB and 64 times the size of the file. UnitCheck limits what grows with the number
// of units instead of with bytes. without_compression() makes the file that LLVM gets instead of one with
// compressed sections: an ELF header, the debug sections, their names, the section headers.

#include "sframe/elf/llvm_input.h"

#include "gnu_compression.h"
#include "sframe/bytes.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <bit>
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
  return section.name.starts_with(".debug_") || section.gnu_compressed();
}

bool is_compressed(const SectionHeader& section) {
  return section.flags & shf_compressed || section.gnu_compressed();
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
  if (!(section.flags & shf_compressed)) return gnu_uncompressed_size(bytes).value_or(section.size);
  return with_types(image.byte_order(), [&]<class Types>(Types) -> std::optional<std::uint64_t> {
    const auto header = table_at<typename Types::Chdr>(bytes, 0, 1);
    if (!header) return std::nullopt;
    return static_cast<std::uint64_t>((*header)[0].ch_size);
  });
}

/// What LLVM knows a section by: it ignores such characters at the start, and reads each section of that
/// name.
std::string_view llvm_name(const SectionHeader& section) {
  const std::string_view name = section.name;
  return name.substr(std::min(name.find_first_not_of("._z"), name.size()));
}

/// Checks the parts of debug information that LLVM makes something large of before it can be asked what, or
/// trusts.
class UnitCheck {
public:
  explicit UnitCheck(const Image& image)
      : order_(image.byte_order()), left_(least_units + image.bytes().size() / bytes_per_unit) {}

  /// `name`: as llvm_name() returns it.
  bool is_fit(std::string_view name, std::span<const std::byte> contents) {
    if (has_units(name)) return take_units(contents);
    return !is_index(name) || take_index(contents);
  }

  static bool has_units(std::string_view name) {
    constexpr std::string_view split = ".dwo";
    if (name.ends_with(split)) name.remove_suffix(split.size());
    return name == "debug_info" || name == "debug_types";
  }
  static bool is_index(std::string_view name) { return name == "debug_cu_index" || name == "debug_tu_index"; }

  std::uint64_t steps() const { return rows_ ? rows_ / rows_per_unit + 1 : units_; }

private:
  // LLVM needs 1.2 kB for a unit. The smallest real ones, which dwz makes, have more bytes, and the file has
  // more than these.
  static constexpr std::uint64_t least_units = 16384, bytes_per_unit = 32;
  static constexpr std::uint64_t rows_per_unit = 32;

  /// The lengths of units are all that matters: LLVM stops at a wrong header, and there is none so short.
  bool take_units(std::span<const std::byte> bytes) {
    constexpr std::uint64_t least_length = 7;
    for (std::uint64_t at = 0;;) {
      const auto first = load_at<std::uint32_t>(bytes, at, order_);
      if (!first) return true;
      if (left_-- == 0) return false;
      ++units_;
      at += sizeof *first;
      std::optional<std::uint64_t> length = *first;
      if (*first == std::numeric_limits<std::uint32_t>::max()) {
        length = load_at<std::uint64_t>(bytes, at, order_);
        at += sizeof *length;
      }
      if (!length || *length < least_length || at > bytes.size() || *length > bytes.size() - at) return true;
      at += *length;
    }
  }

  /// An index of a .dwp file (DWARF 5, 7.3.5.3; version 2 is GNU's): LLVM uses the numbers of rows as they
  /// are, needs one for each unit, and searches until it finds an empty bucket.
  bool take_index(std::span<const std::byte> bytes) {
    constexpr std::uint64_t header_size = 16, bucket_size = 12, most_columns = 16;
    const auto number = [&](std::uint64_t at) {
      return std::uint64_t{load_at<std::uint32_t>(bytes, at, order_).value_or(0)};
    };
    if (bytes.size() < header_size) return true;
    if (number(0) != 2 && load_at<std::uint16_t>(bytes, 0, order_) != 5) return true; // LLVM ignores it
    const std::uint64_t columns = number(4), units = number(8), buckets = number(12);
    if (buckets == 0 && units == 0) return true;
    if (!std::has_single_bit(buckets) || units >= buckets || columns > most_columns) return false;
    if (header_size + bucket_size * buckets + (2 * units + 1) * 4 * columns > bytes.size()) return false;
    std::vector<bool> seen(units);
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) {
      const std::uint64_t row = number(header_size + 8 * buckets + 4 * i);
      if (row == 0) continue;
      if (row > units || seen[row - 1]) return false;
      seen[row - 1] = true;
      ++count;
    }
    rows_ += buckets;
    return count == units;
  }

  ByteOrder order_;
  std::uint64_t left_, units_ = 0, rows_ = 0;
};

} // namespace

std::optional<std::uint64_t> steps_to_find_unit(const Image& image) {
  UnitCheck check(image);
  std::uint64_t left = image.bytes().size();
  for (const SectionHeader& section : image.sections()) {
    const std::string_view name = llvm_name(section);
    if (!name.starts_with("debug_") || section.type == SHT_NOBITS || !is_in_file(image, section)) continue;
    const bool is_read = UnitCheck::has_units(name) || UnitCheck::is_index(name);
    if (is_compressed(section)) { // its size was counted
      const auto contents = is_read ? image.contents(section) : fail("");
      if (contents && !check.is_fit(name, contents->bytes())) return std::nullopt;
      continue;
    }
    if (section.size > left) return std::nullopt;
    left -= section.size;
    if (is_read && !check.is_fit(name, image.bytes().subspan(section.offset, section.size)))
      return std::nullopt;
  }
  return check.steps();
}

bool is_fit_for_llvm_dwarf(const Image& image, std::uint64_t* steps) {
  std::uint64_t left = (std::uint64_t(64) << 20) + 64 * std::uint64_t(image.bytes().size());
  std::uint64_t left_for_relocations = image.bytes().size(); // they do not overlap
  for (const SectionHeader& section : image.sections()) {
    if (is_compressed(section)) {
      const std::uint64_t size = claimed_size(image, section).value_or(0); // LLVM reports a missing header
      if (size > left) return false;
      left -= size;
    }
    if (!image.relocatable()) continue; // LLVM does not read relocations here
    if (section.type != SHT_REL && section.type != SHT_RELA && section.type != SHT_CREL) continue;
    if (section.type == SHT_CREL ? !is_in_file(image, section) : !has_valid_relocations(image, section))
      return false;
    if (section.size > left_for_relocations) return false;
    left_for_relocations -= section.size;
  }
  const auto found = steps_to_find_unit(image);
  if (found && steps) *steps = *found;
  return found.has_value();
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
    UnitCheck units(image);
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
      if (!units.is_fit(llvm_name(section), contents->bytes()))
        return fail("implausible number of units: no source lines", section.name);
      add("." + std::string(llvm_name(section)), sht_progbits, contents->bytes());
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
