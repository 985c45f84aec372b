// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocations of instructions are described as data (abi/*.cc): which bits of a word get which bits of the
// value. Those of plain data are the ones of Image::relocated_contents().

#include "sframe/elf/linked_object.h"

#include "sframe/address.h"
#include "sframe/bytes.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/machine.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sframe::elf {

namespace {

/// Between the addresses of symbols that other files define: more than any instruction loads, and a multiple
/// of what any instruction divides by.
constexpr std::uint64_t external_size = 16;
constexpr std::uint64_t page = 0x1000; ///< of AArch64's ADRP

class Linker {
public:
  explicit Linker(const ObjectLayout& layout)
      : object_(layout.image()), machine_(*find_machine(object_.machine())),
        bytes_(object_.bytes().begin(), object_.bytes().end()), next_external_(align_up(layout.end(), page)) {
  }

  Result<void> run() {
    for (const SectionHeader& section : object_.sections()) {
      if (section.type == sht_rel && section.info < object_.sections().size() &&
          object_.sections()[section.info].allocated())
        return fail("relocations without addends are not supported in the analysis of machine code",
                    section.name);
      if (!section.allocated() || section.type == sht_nobits || section.address == 0) continue;
      if (auto done = relocate(section); !done) return done;
    }
    with_types(object_.byte_order(), [&]<class Types>(Types) { write_headers<Types>(); });
    return {};
  }

  std::vector<std::byte> bytes() { return std::move(bytes_); }
  std::vector<ExternalSymbol> externals() {
    std::vector<ExternalSymbol> result;
    for (const auto& [symbol, external] : externals_) result.push_back(external);
    std::ranges::sort(result, {}, &ExternalSymbol::address);
    return result;
  }

private:
  Result<void> relocate(const SectionHeader& section) {
    const auto relocations = object_.relocations(section);
    if (!relocations) return unexpected(relocations.error());
    const auto bytes = std::span(bytes_).subspan(section.offset, section.size);
    for (const Relocation& relocation : *relocations)
      if (auto done = apply(relocation, section, bytes); !done) return done;
    return {};
  }

  struct Field : RelocatedField {
    ByteOrder order;
  };
  /// How the type changes the place; nothing if it is not supported.
  std::optional<Field> field_of(std::uint32_t type) const {
    const auto field = std::ranges::find(machine_.code_relocations, type, &RelocatedField::type);
    if (field != machine_.code_relocations.end()) return Field{*field, machine_.code_order};
    const auto kind = object_.relocation_kind(type);
    if (!kind) return std::nullopt;
    return Field{{.type = type,
                  .size = kind->size,
                  .base = kind->pc_relative ? RelocatedField::Base::place : RelocatedField::Base::none,
                  .width = static_cast<std::uint8_t>(kind->size * 8)},
                 object_.byte_order()};
  }

  Result<void> apply(const Relocation& relocation, const SectionHeader& section, std::span<std::byte> bytes) {
    using Base = RelocatedField::Base;
    const auto field = field_of(relocation.type);
    if (!field)
      return fail("relocation type " + std::to_string(relocation.type) +
                      " is not supported in the analysis of machine code",
                  section.name, relocation.offset);
    if (field->size == 0) return {};
    if (relocation.offset > bytes.size() || bytes.size() - relocation.offset < field->size)
      return fail("relocation outside its section", section.name, relocation.offset);
    const std::uint64_t place = section.address + relocation.offset;
    const auto addend = static_cast<std::uint64_t>(relocation.addend);
    const bool slot = field->of == RelocatedField::Of::slot;
    std::uint64_t value =
        (slot || relocation.section == 0 ? external(relocation, slot) : relocation.symbol_value) + addend;
    if (field->base == Base::place) value -= place;
    if (field->base == Base::page) value = (value & -page) - (place & -page);
    if (field->checked && !fits(static_cast<std::int64_t>(value) >> field->shift, field->width))
      return fail("relocation is out of reach", section.name, relocation.offset);
    write(*field, value >> field->shift, bytes.data() + relocation.offset);
    return {};
  }

  static bool fits(std::int64_t value, std::uint8_t width) {
    return width >= 64 || value >> (width - 1) == 0 || value >> (width - 1) == -1;
  }

  static void write(const Field& field, std::uint64_t value, std::byte* to) {
    std::uint64_t word = load_sized(to, field.size, field.order);
    const auto put = [&](std::uint64_t bits, int lsb, int width) {
      const std::uint64_t mask = (width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << lsb;
      word = (word & ~mask) | (bits << lsb & mask);
    };
    if (field.low_bits_at == 0) {
      put(value, field.lsb, field.width);
    } else {
      put(value, field.low_bits_at, 2);
      put(value >> 2, field.lsb, field.width - 2);
    }
    store_sized(to, word, field.size, field.order);
  }

  /// The address of a symbol that another file defines, or of its entry in a table that a linker makes.
  std::uint64_t external(const Relocation& relocation, bool slot) {
    const auto [at, is_new] = externals_.try_emplace(std::pair(relocation.symbol, slot));
    if (is_new) {
      at->second = {next_external_, slot ? std::string_view() : relocation.symbol_name};
      next_external_ += external_size;
    }
    return at->second.address;
  }

  /// Addresses of sections, symbols' values, and another type of file.
  template <class Types> void write_headers() {
    auto* const header = reinterpret_cast<typename Types::Ehdr*>(bytes_.data());
    header->e_type = llvm::ELF::ET_DYN;
    header->e_entry = 0;
    for (const SectionHeader& section : object_.sections()) {
      const std::uint64_t at = header->e_shoff + std::uint64_t{section.index} * header->e_shentsize;
      if (at > bytes_.size() || bytes_.size() - at < sizeof(typename Types::Shdr)) break;
      reinterpret_cast<typename Types::Shdr*>(bytes_.data() + at)->sh_addr = section.address;
      if (section.type == sht_symtab) write_symbols<Types>(section);
    }
  }

  template <class Types> void write_symbols(const SectionHeader& table) {
    const auto sections = object_.sections();
    const auto entries = table_at<typename Types::Sym>(std::as_bytes(std::span(bytes_)), table.offset,
                                                       table.size / sizeof(typename Types::Sym));
    if (!entries) return;
    std::span<const typename Types::Word> extended;
    if (const SectionHeader* numbers = object_.section_numbers_of(table.index))
      extended = table_at<typename Types::Word>(object_.bytes(), numbers->offset,
                                                numbers->size / sizeof(typename Types::Word))
                     .value_or(extended);
    auto* const symbols = const_cast<typename Types::Sym*>(entries->data());
    for (std::size_t i = 0; i < entries->size(); ++i) {
      std::uint32_t index = symbols[i].st_shndx;
      if (index == llvm::ELF::SHN_XINDEX) index = i < extended.size() ? std::uint32_t(extended[i]) : 0;
      if (index != 0 && index < sections.size())
        symbols[i].st_value = symbols[i].st_value + sections[index].address;
    }
  }

  const Image& object_;
  const MachineTraits& machine_;
  std::vector<std::byte> bytes_;
  std::uint64_t next_external_;
  std::map<std::pair<std::uint32_t, bool>, ExternalSymbol> externals_; ///< by symbol; true: its entry
};

} // namespace

Result<LinkedObject> LinkedObject::make(const ObjectLayout& layout) {
  const Image& object = layout.image();
  if (!find_machine(object.machine()))
    return fail("machine " + std::to_string(object.machine()) + " is not supported");
  Linker linker(layout);
  if (auto done = linker.run(); !done) return unexpected(done.error());
  std::vector<std::byte> bytes = linker.bytes();
  auto image = Image::parse(bytes, object.budget());
  if (!image) return unexpected(image.error());
  return LinkedObject(std::move(bytes), std::move(*image), linker.externals());
}

} // namespace sframe::elf
