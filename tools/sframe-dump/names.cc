// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

#include "sframe/names/demangle.h"

#include <sframe/base/line.h>
#include <sframe/tool/debug_files.h>

#include <algorithm>
#include <tuple>

namespace sframe::dump {

std::string FunctionName::text(bool demangled) const {
  std::string name = demangled ? names::demangle(raw, budget) : std::string(raw);
  if (offset) {
    Line suffix;
    name += suffix.text("+0x").hex(offset).view();
  }
  return name;
}

namespace {

/// The relocation's target, regardless of its field.
std::uint64_t written_start(const elf::Relocation& relocation) {
  return relocation.symbol_value + static_cast<std::uint64_t>(relocation.addend);
}

} // namespace

void Names::select(const Object& object) {
  object_ = &object;
  symbols_.reset();
  debug_.reset();
  relocations_.clear();
  problem_.reset();
}

void Names::select(const ObjectSection& section) {
  relocations_.clear();
  reading_.reset();
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
  if (symbols_) return *symbols_;
  if (!object_->image) return symbols_.emplace();
  if (find_debug_ && object_->kind == Object::Kind::file && !object_->relocatable())
    debug_ = find_debug_(*object_);
  symbols_ = tool::load_symbols(*object_->image, debug_ ? debug_->known_image() : nullptr);
  return *symbols_;
}

const elf::Relocation* Names::relocation_at(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(relocations_, offset, {}, &elf::Relocation::offset);
  return found != relocations_.end() && found->offset == offset ? &*found : nullptr;
}

FunctionLocation Names::locate(const sframe::Section& part, std::uint64_t part_offset,
                               const EncodedFde& fde) {
  FunctionLocation location{.start = fde.start};
  // The start is the first field of an index entry in every version.
  location.relocation = relocation_at(part_offset + fde.index_offset);
  if (!location.relocation || location.relocation->section == 0) return location;
  location.section = location.relocation->section;
  const auto sections = object_->image->sections();
  if (location.section < sections.size()) location.start -= sections[location.section].address;
  if (part.header().flags & flag_func_start_pcrel || !starts_as_written(part, part_offset)) return location;
  location.start = written_start(*location.relocation);
  return location;
}

/// True if the starts are the relocations' targets. Without the flag FUNC_START_PCREL, starts are relative to
/// the section. But older assemblers wrote a relocation relative to the field, without the field's offset in
/// the section, and relied on the linker to correct it. One producer writes all functions, so they are
/// decided together: the reading with more starts inside their sections wins, then the one with more starts
/// at a symbol. Linear, once per part.
bool Names::starts_as_written(const sframe::Section& part, std::uint64_t part_offset) {
  if (reading_ && reading_->part_offset == part_offset) return reading_->as_written;
  using Score = std::pair<std::uint64_t, std::uint64_t>; // inside, with a symbol
  Score counted, written;
  const auto sections = object_->image->sections();
  const auto rate = [&](std::uint32_t section, std::uint64_t start, Score& score) {
    if (start < sections[section].size) ++score.first;
    if (!symbols().at(section, start).empty()) ++score.second;
  };
  for (std::uint32_t i = 0; i < part.num_fdes(); ++i) {
    const auto fde = part.fde(i);
    if (!fde) break;
    const elf::Relocation* relocation = relocation_at(part_offset + fde->index_offset);
    if (!relocation || relocation->section == 0 || relocation->section >= sections.size()) continue;
    rate(relocation->section, fde->start - sections[relocation->section].address, counted);
    rate(relocation->section, written_start(*relocation), written);
  }
  reading_ = {part_offset, written >= counted};
  return reading_->as_written;
}

std::optional<FunctionName> Names::find(const FunctionLocation& location) {
  const auto match = symbols().find(location.section, location.start);
  if (!match) return std::nullopt;
  return FunctionName{match->symbol->name, match->offset,
                      object_->image ? object_->image->budget() : nullptr};
}

std::vector<Names::Inner> Names::inside(const FunctionLocation& location, std::uint64_t size) {
  std::vector<Inner> found;
  if (size == 0) return found;
  for (const elf::Symbol& symbol : symbols().in(location.section, location.start + 1, size - 1))
    if (symbol.function() && (found.empty() || found.back().start != symbol.address))
      found.push_back({symbol.address, {symbol.name, 0, object_->image->budget()}});
  return found;
}

std::string_view Names::section_name(const FunctionLocation& location) const {
  if (location.section == 0 || !object_->image || location.section >= object_->image->sections().size())
    return {};
  return object_->image->sections()[location.section].name;
}

} // namespace sframe::dump
