// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where addresses of a file's read-only data may be: in relocations and the words that they relocate, in data
// and code with fixed addresses, in operands of instructions.

#include "references.h"

#include "sframe/base/budget.h"
#include "sframe/base/text.h"
#include "sframe/bytes.h"
#include "sframe/code/references.h"
#include "sframe/elf/llvm_types.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sframe::shrink {

using namespace elf;

namespace {

constexpr std::uint32_t sht_relr = 19;
constexpr std::uint64_t word = 8;

std::span<const std::byte> bytes_of(const Image& image, const SectionHeader& section) {
  const AddressRange file{0, image.bytes().size()};
  if (section.type == sht_nobits || !file.contains({section.offset, section.size})) return {};
  return image.bytes().subspan(static_cast<std::size_t>(section.offset),
                               static_cast<std::size_t>(section.size));
}

unexpected<Problem> refers(std::string_view what, std::uint64_t address, std::string_view section) {
  return fail(std::string(what) + " at " + hex(address) + " refers to .eh_frame or .eh_frame_hdr", section);
}

/// A word that the loader changes by the load address only.
Result<void> check_relative(const Image& image, const AddressRange& range, std::uint64_t address,
                            std::string_view section) {
  if (range.overlaps({address, word})) return refers("relocation", address, section);
  const auto bytes = image.read(address, word);
  if (bytes && range.contains(load<std::uint64_t>(bytes->data(), image.byte_order())))
    return refers("pointer", address, section);
  return {};
}

/// SHT_RELR: an address, then bitmaps for the 63 words after it, each (generic ABI, "Relocation Table").
Result<void> check_relr(const Image& image, const AddressRange& range, const SectionHeader& section) {
  const auto bytes = bytes_of(image, section);
  std::uint64_t next = 0;
  for (std::uint64_t at = 0; at + word <= bytes.size(); at += word) {
    std::uint64_t entry = load<std::uint64_t>(bytes.data() + at, image.byte_order());
    if ((entry & 1) == 0) {
      if (auto done = check_relative(image, range, entry, section.name); !done) return done;
      next = entry + word;
      continue;
    }
    for (std::uint64_t place = next; entry >>= 1; place += word)
      if (entry & 1)
        if (auto done = check_relative(image, range, place, section.name); !done) return done;
    next += 63 * word;
  }
  return {};
}

Result<void> check_relocations(const Image& image, const AddressRange& range) {
  for (const Image::LoadedPointer& pointer : image.loaded_pointers())
    if (range.overlaps({pointer.address, word}) || range.contains(pointer.value))
      return refers("relocation", pointer.address, {});
  for (const SectionHeader& section : image.sections()) {
    const auto refuse = [&] {
      return fail("relocations for .eh_frame are kept in the file (ld --emit-relocs)", section.name);
    };
    if ((section.type == sht_rela || section.type == sht_rel) && !section.allocated() &&
        section.info < image.sections().size() && image.sections()[section.info].name == ".eh_frame")
      return refuse();
    if (section.type == sht_relr)
      if (auto done = check_relr(image, range, section); !done) return done;
    if (section.type != sht_rela || !section.allocated()) continue;
    for (const Image::RelocatedPlace& place : image.relocated_places(section, 1))
      if (range.overlaps({place.address, word})) return refers("relocation", place.address, section.name);
  }
  return {};
}

/// In a program with fixed addresses, pointers in data need no relocation.
Result<void> check_data(const Image& image, const AddressRange& range, std::span<const std::uint64_t> named) {
  if (image.type() != et_exec) return {};
  for (const SectionHeader& section : image.sections()) {
    if (!section.allocated() || section.executable() || range.overlaps(section.memory())) continue;
    const auto bytes = bytes_of(image, section);
    for (std::uint64_t at = (0 - section.address) % word; at + word <= bytes.size(); at += word)
      if (std::ranges::count(named, load<std::uint64_t>(bytes.data() + at, image.byte_order())) != 0)
        return refers("a word of data", section.address + at, section.name);
  }
  return {};
}

Result<void> check_code(const Image& image, std::span<const std::uint64_t> named) {
  code::ReferenceFinder finder(*image.abi());
  std::vector<AddressRange> places;
  for (const std::uint64_t address : named) places.push_back({address, 1});
  const AddressSet wanted(std::move(places));
  std::vector<code::Reference> found;
  for (const CodeRange& code : image.executable_ranges()) {
    const auto bytes = image.read(code.start, code.size);
    if (bytes) finder.find(*bytes, code.start, wanted, image.budget(), found);
    if (!found.empty())
      return fail("code refers to .eh_frame or .eh_frame_hdr, at " + hex(found.front().target));
  }
  if (image.budget() && image.budget()->problem()) return fail("too much code to look for references");
  return {};
}

} // namespace

Result<void> check_unreferenced(const Image& image, const AddressRange& range,
                                std::span<const std::uint64_t> named) {
  if (auto done = check_relocations(image, range); !done) return done;
  if (auto done = check_data(image, range, named); !done) return done;
  return check_code(image, named);
}

bool has_name(const Image& image, std::string_view table, std::string_view name) {
  const SectionHeader* section = image.find_section(table);
  if (!section) return false;
  const std::string whole = '\0' + std::string(name) + '\0';
  return as_text(bytes_of(image, *section)).find(whole) != std::string_view::npos;
}

bool imports(const Image& image, std::string_view name) {
  const SectionHeader* table = image.find_section(".dynsym");
  if (!table || !has_name(image, ".dynstr", name)) return false;
  const auto names = bytes_of(image, *image.find_section(".dynstr"));
  constexpr std::size_t symbol_size = 24, section_at = 6;
  const auto symbols = bytes_of(image, *table);
  for (std::size_t at = 0; at + symbol_size <= symbols.size(); at += symbol_size) {
    const auto name_at = load<std::uint32_t>(symbols.data() + at, image.byte_order());
    const auto section = load<std::uint16_t>(symbols.data() + at + section_at, image.byte_order());
    if (section == 0 && string_at(names, name_at, name.size() + 1) == name) return true;
  }
  return false;
}

bool is_static_program(const Image& image) {
  if (image.find_segment(pt_interp)) return false;
  if (image.type() == et_exec) return true;
  constexpr std::uint64_t dt_flags_1 = 0x6ffffffb, df_1_pie = 0x08000000;
  const Segment* dynamic = image.find_segment(pt_dynamic);
  if (!dynamic) return true;
  const auto entries = image.read(dynamic->address, dynamic->file_size);
  for (std::uint64_t at = 0; entries && at + 2 * word <= entries->size(); at += 2 * word)
    if (load<std::uint64_t>(entries->data() + at, image.byte_order()) == dt_flags_1)
      return load<std::uint64_t>(entries->data() + at + word, image.byte_order()) & df_1_pie;
  return false;
}

} // namespace sframe::shrink
