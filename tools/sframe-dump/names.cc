// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

#include "line.h"

#include <algorithm>
#include <tuple>

namespace sframe::dump {

std::string FunctionName::text(bool demangled) const {
  std::string name = demangled ? elf::demangle(raw) : std::string(raw);
  if (offset) {
    Line suffix;
    name += suffix.text("+0x").hex(offset).view();
  }
  return name;
}

void Names::select(const Object& object) {
  object_ = &object;
  symbols_.reset();
  relocations_.clear();
  problem_.reset();
}

void Names::select(const ObjectSection& section) {
  relocations_.clear();
  problem_.reset();
  if (!section.section || !object_->relocatable()) return;
  auto relocations = object_->image->relocations(*section.section);
  if (!relocations) {
    problem_ = relocations.error();
    return;
  }
  relocations_ = std::move(*relocations);
  std::ranges::sort(relocations_, {}, [](const elf::Relocation& relocation) {
    return std::tuple(relocation.offset, relocation.type, relocation.symbol, relocation.addend);
  });
}

const elf::SymbolTable& Names::symbols() {
  if (!symbols_) symbols_ = object_->image ? elf::SymbolTable::load(*object_->image) : elf::SymbolTable();
  return *symbols_;
}

const elf::Relocation* Names::relocation_at(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(relocations_, offset, {}, &elf::Relocation::offset);
  return found != relocations_.end() && found->offset == offset ? &*found : nullptr;
}

Place Names::place(const sframe::Section& part, std::uint64_t part_offset, const EncodedFde& fde) {
  Place place{.start = fde.start};
  // The start stands first in an index entry of every version.
  place.relocation = relocation_at(part_offset + fde.index_offset);
  if (!place.relocation || place.relocation->section == 0) return place;
  place.section = place.relocation->section;
  const auto sections = object_->image->sections();
  if (place.section < sections.size()) place.start -= sections[place.section].address;
  if (part.header().flags & flag_func_start_pcrel) return place;

  // Starts count from the section, yet the assemblers of that time wrote a relocation against the place,
  // without the place's offset in the section, and left it to the linker to make up for it. Take whichever
  // reading meets a symbol.
  const std::uint64_t as_written =
      place.relocation->symbol_value + static_cast<std::uint64_t>(place.relocation->addend);
  if (symbols().at(place.section, place.start).empty() && !symbols().at(place.section, as_written).empty())
    place.start = as_written;
  return place;
}

std::optional<FunctionName> Names::find(const Place& place) {
  const auto match = symbols().find(place.section, place.start);
  if (!match) return std::nullopt;
  return FunctionName{match->symbol->name, match->offset};
}

std::string_view Names::section_name(const Place& place) const {
  if (place.section == 0 || !object_->image || place.section >= object_->image->sections().size()) return {};
  return object_->image->sections()[place.section].name;
}

} // namespace sframe::dump
