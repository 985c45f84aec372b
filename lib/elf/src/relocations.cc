// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocations of relocatable objects (System V ABI, chapter 4, "Relocation"), applied as a dumper needs them:
// every section stays at its own address, normally 0, and only the types that put an address or a distance
// into data are supported (abi/*.cc). LLVM's own resolver supports neither s390x's PC-relative types nor
// PLT32, so the tables are ours.

#include "sframe/elf/image.h"

#include "sframe/base/budget.h"
#include "sframe/bytes.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/machine.h"
#include "sframe/elf/tagged_values.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace sframe::elf {

namespace {

/// A symbol table as needed for relocations: names, sections (with extended indices), values.
template <class Types> struct RelocationSymbols {
  std::span<const typename Types::Sym> symbols;
  std::span<const typename Types::Word> extended; ///< SHT_SYMTAB_SHNDX
  std::span<const std::byte> names;
  std::span<const SectionHeader> sections;

  /// Sets all fields that depend on the symbol. False for a symbol number outside the table.
  bool look_up(Relocation& relocation) const {
    if (relocation.symbol == 0) return true;
    if (relocation.symbol >= symbols.size()) return false;
    const auto& symbol = symbols[relocation.symbol];
    std::uint32_t section = symbol.st_shndx;
    if (section == llvm::ELF::SHN_XINDEX)
      section = relocation.symbol < extended.size() ? std::uint32_t(extended[relocation.symbol]) : 0;
    else if (section >= llvm::ELF::SHN_LORESERVE)
      section = 0;
    if (section < sections.size()) relocation.section = section;
    const SectionHeader* definition = relocation.section ? &sections[relocation.section] : nullptr;
    relocation.symbol_name = string_at(names, symbol.st_name, 65536);
    if (symbol.getType() == llvm::ELF::STT_SECTION && definition) relocation.symbol_name = definition->name;
    if (symbol.st_shndx == llvm::ELF::SHN_COMMON) return true; // st_value is an alignment
    relocation.symbol_value = symbol.st_value + (definition ? definition->address : 0);
    return true;
  }
};

const SectionHeader* linked(std::span<const SectionHeader> sections, std::uint32_t index) {
  return index < sections.size() ? &sections[index] : nullptr;
}

} // namespace

void Image::index_relocations() {
  if (!relocatable()) return;
  for (const SectionHeader& section : sections_)
    if (section.type == sht_rela || section.type == sht_rel)
      relocation_sections_.push_back({section.info, section.index});
  std::ranges::sort(relocation_sections_, [](const SectionLink& a, const SectionLink& b) {
    return std::tie(a.target, a.index) < std::tie(b.target, b.index);
  });
}

void Image::index_section_numbers() {
  for (const SectionHeader& section : sections_)
    if (section.type == sht_symtab_shndx) section_numbers_.push_back({section.link, section.index});
  std::ranges::stable_sort(section_numbers_, {}, &SectionLink::target);
}

const SectionHeader* Image::section_numbers_of(std::uint32_t symbol_table) const {
  const auto found = std::ranges::lower_bound(section_numbers_, symbol_table, {}, &SectionLink::target);
  return found != section_numbers_.end() && found->target == symbol_table ? &sections_[found->index]
                                                                          : nullptr;
}

std::optional<Image::RelocationKind> Image::relocation_kind(std::uint32_t type) const {
  const MachineTraits* machine = find_machine(machine_);
  if (!machine) return std::nullopt;
  auto found = std::ranges::find(machine->relocations, type, &RelocationType::type);
  if (found == machine->relocations.end()) return std::nullopt;
  return found->kind;
}

/// Calls f(relocation, has_addend) for every relocation of the section; f returns a Result<void>.
template <class Types, class F>
Result<void> Image::each_relocation(const SectionHeader& section, F&& f) const {
  auto first = std::ranges::lower_bound(relocation_sections_, section.index, {}, &SectionLink::target);
  std::uint64_t budget =
      bytes_.size(); // bounds the cost of a file that names the same table a thousand times
  for (; first != relocation_sections_.end() && first->target == section.index; ++first) {
    const SectionHeader& table = sections_[first->index];
    auto bytes = raw(table.offset, table.size, table.name);
    if (!bytes) return unexpected(bytes.error());
    if (bytes->size() > budget) return fail("relocation sections overlap each other", table.name);
    budget -= bytes->size();
    if (budget_ && !budget_->take(Resource::section_bytes, table.size)) return used_up(table);
    RelocationSymbols<Types> symbols{{}, {}, {}, sections_};
    if (const SectionHeader* symtab = linked(sections_, table.link); symtab && symtab->type == sht_symtab) {
      if (auto raw_symbols = raw(symtab->offset, symtab->size, symtab->name))
        symbols.symbols = whole_table<typename Types::Sym>(*raw_symbols);
      if (const SectionHeader* strtab = linked(sections_, symtab->link); strtab && strtab->type == sht_strtab)
        symbols.names =
            raw(strtab->offset, strtab->size, strtab->name).value_or(std::span<const std::byte>());
      if (const SectionHeader* numbers = section_numbers_of(symtab->index))
        if (auto raw_numbers = raw(numbers->offset, numbers->size, numbers->name))
          symbols.extended = whole_table<typename Types::Word>(*raw_numbers);
    }
    auto visit = [&](const auto& entry, std::int64_t addend, bool has_addend) -> Result<void> {
      Relocation relocation;
      relocation.offset = entry.r_offset;
      relocation.type = entry.getType(false);
      relocation.symbol = entry.getSymbol(false);
      relocation.addend = addend;
      if (!symbols.look_up(relocation))
        return fail("relocation refers to symbol " + std::to_string(relocation.symbol) +
                        ", which does not exist",
                    section.name, relocation.offset);
      return f(relocation, has_addend);
    };
    if (table.type == sht_rela) {
      for (const auto& entry : whole_table<typename Types::Rela>(*bytes))
        if (auto done = visit(entry, entry.r_addend, true); !done) return done;
    } else {
      for (const auto& entry : whole_table<typename Types::Rel>(*bytes))
        if (auto done = visit(entry, 0, false); !done) return done;
    }
  }
  return {};
}

namespace {

/// The addend of a REL relocation, stored in the place itself, sign-extended.
std::int64_t implicit_addend(std::span<const std::byte> place, unsigned size, ByteOrder order) {
  const std::uint64_t value = load_sized(place.data(), size, order);
  const unsigned unused = 64 - size * 8;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

} // namespace

Result<Contents> Image::relocated_contents(const SectionHeader& section) const {
  auto original = contents(section);
  auto entry = std::ranges::lower_bound(relocation_sections_, section.index, {}, &SectionLink::target);
  if (!original || entry == relocation_sections_.end() || entry->target != section.index) return original;

  auto view = original->bytes();
  std::vector<std::byte> bytes(view.begin(), view.end());
  auto apply = [&](const Relocation& relocation, bool has_addend) -> Result<void> {
    auto kind = relocation_kind(relocation.type);
    if (!kind)
      return fail("unsupported relocation type " + std::to_string(relocation.type), section.name,
                  relocation.offset);
    if (kind->size == 0) return {};
    if (relocation.offset > bytes.size() || bytes.size() - relocation.offset < kind->size)
      return fail("relocation outside its section", section.name, relocation.offset);
    auto place = std::span(bytes).subspan(relocation.offset, kind->size);
    const std::int64_t addend = has_addend ? relocation.addend : implicit_addend(place, kind->size, order_);
    std::uint64_t value = relocation.symbol_value + static_cast<std::uint64_t>(addend);
    if (kind->pc_relative) value -= section.address + relocation.offset;
    store_sized(place.data(), value, kind->size, order_);
    return {};
  };
  auto done = with_types(order_, [&]<class Types>(Types) { return each_relocation<Types>(section, apply); });
  if (!done) return unexpected(done.error());
  return Contents(std::move(bytes));
}

Result<std::vector<Relocation>> Image::relocations(const SectionHeader& section) const {
  std::vector<Relocation> result;
  Contents target; // only REL needs the bytes
  bool target_read = false;
  auto collect = [&](Relocation relocation, bool has_addend) -> Result<void> {
    if (!has_addend && !target_read) {
      auto bytes = contents(section);
      if (!bytes) return unexpected(bytes.error());
      target = std::move(*bytes);
      target_read = true;
    }
    auto kind = has_addend ? std::nullopt : relocation_kind(relocation.type);
    auto bytes = target.bytes();
    if (kind && kind->size != 0 && relocation.offset <= bytes.size() &&
        bytes.size() - relocation.offset >= kind->size)
      relocation.addend = implicit_addend(bytes.subspan(relocation.offset), kind->size, order_);
    result.push_back(relocation);
    return {};
  };
  auto done =
      with_types(order_, [&]<class Types>(Types) { return each_relocation<Types>(section, collect); });
  if (!done) return unexpected(done.error());
  return result;
}

std::vector<Image::RelocatedPlace> Image::relocated_places(const SectionHeader& relocations,
                                                           std::size_t max_length) const {
  const auto bytes_of = [&](std::uint32_t index) {
    const SectionHeader* section = linked(sections_, index);
    return section ? read(section->address, section->size).value_or(std::span<const std::byte>())
                   : std::span<const std::byte>();
  };
  std::vector<RelocatedPlace> result;
  if (budget_ && !budget_->take(Resource::section_bytes, relocations.size)) return result;
  const SectionHeader* symtab = linked(sections_, relocations.link);
  const std::span<const std::byte> names = symtab ? bytes_of(symtab->link) : std::span<const std::byte>();
  with_types(order_, [&]<class Types>(Types) {
    const auto symbols = whole_table<typename Types::Sym>(bytes_of(relocations.link));
    for (const typename Types::Rela& rela : whole_table<typename Types::Rela>(bytes_of(relocations.index))) {
      const std::uint32_t symbol = rela.getSymbol(false);
      result.push_back({rela.r_offset, symbol != 0 && symbol < symbols.size()
                                           ? string_at(names, symbols[symbol].st_name, max_length)
                                           : std::string_view()});
    }
  });
  return result;
}

std::vector<Image::LoadedPointer> Image::loaded_pointers() const {
  std::vector<LoadedPointer> pointers;
  const MachineTraits* machine = find_machine(machine_);
  if (!machine) return pointers;
  std::vector<AddressRange> tables;
  for (const SectionHeader& section : sections_)
    if (section.type == sht_rela && section.allocated()) tables.push_back(section.memory());
  if (const Segment* dynamic = sections_.empty() ? find_segment(pt_dynamic) : nullptr) {
    const auto bytes = bytes_at(dynamic->address);
    const auto pairs = bytes.first(std::min<std::uint64_t>(bytes.size(), dynamic->memory_size));
    const auto address = find_value(pairs, order_, dt_rela), size = find_value(pairs, order_, dt_relasz);
    if (address && size) tables.push_back({*address, *size});
  }
  with_types(byte_order(), [&]<class Types>(Types) {
    for (const AddressRange& table : tables) {
      const auto bytes = read(table.start, table.size);
      if (!bytes) continue;
      if (budget_ && !budget_->take(Resource::section_bytes, table.size)) break;
      for (const typename Types::Rela& rela : whole_table<typename Types::Rela>(*bytes))
        if (rela.getType(false) == machine->relative && rela.getSymbol(false) == 0)
          pointers.push_back({rela.r_offset, static_cast<std::uint64_t>(std::int64_t{rela.r_addend})});
    }
  });
  if (!std::ranges::is_sorted(pointers)) std::ranges::sort(pointers);
  return pointers;
}

} // namespace sframe::elf
