// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each question about a unit is answered once and kept in units_. The answer comes from what LLVM would read,
// which is read here without being stored: abbreviations, lists of ranges, the header of the line table. What
// LLVM would need for it is taken from the file's allowance of 4 Mi steps and 8 for each byte; a step stands
// for about 10 bytes of memory. A list that many entries share is measured once and charged for each of them,
// since LLVM reads it again each time.

#include "sframe/elf/llvm_dwarf_check.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugArangeSet.h>
#include <llvm/DebugInfo/DWARF/DWARFFormValue.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <vector>

namespace sframe::elf {

namespace {

using namespace llvm::dwarf;

constexpr std::uint64_t unlimited_steps = std::numeric_limits<std::uint64_t>::max();
/// LLVM visits nested entries by recursion. Templates nest inlined calls at most 900 deep by default.
constexpr std::uint16_t deepest_entry = 4096;
/// DWARF has fewer than 200 attributes, of which about 40 can have no bytes in an entry.
constexpr std::uint64_t most_attributes = 512, most_empty_attributes = 64;
/// The header of a line table describes a file by 5 at most; LLVM adds one.
constexpr unsigned most_entry_formats = 8;
// Steps for something shared, which also needs memory: one for about 10 bytes.
constexpr std::uint64_t steps_per_range = 8, steps_per_line_byte = 4, steps_per_declaration = 16,
                        steps_per_attribute = 4, steps_per_file = 14;
/// LLVM keeps 32 bytes of an entry, which may have only one.
constexpr std::uint64_t steps_per_entry_byte = 3;

bool has_no_bytes(std::uint64_t form) {
  return form == DW_FORM_flag_present || form == DW_FORM_implicit_const;
}

/// The length of a list in .debug_ranges, up to `most`.
std::uint64_t length_of_old_list(const llvm::DataExtractor& data, std::uint64_t offset, std::uint64_t most) {
  llvm::DataExtractor::Cursor at(offset);
  for (std::uint64_t count = 0; count < most; ++count) {
    const std::uint64_t begin = data.getAddress(at), end = data.getAddress(at);
    if (!at || (begin == 0 && end == 0)) {
      llvm::consumeError(at.takeError());
      return count;
    }
  }
  llvm::consumeError(at.takeError());
  return most;
}

/// The same in .debug_rnglists.
std::uint64_t length_of_list(const llvm::DataExtractor& data, std::uint64_t offset, std::uint64_t most) {
  llvm::DataExtractor::Cursor at(offset);
  std::uint64_t count = 0;
  for (bool ended = false; count < most && !ended; ++count) {
    const std::uint8_t kind = data.getU8(at);
    switch (kind) {
    case DW_RLE_startx_endx:
    case DW_RLE_startx_length:
    case DW_RLE_offset_pair: data.getULEB128(at); [[fallthrough]];
    case DW_RLE_base_addressx: data.getULEB128(at); break;
    case DW_RLE_start_end: data.getAddress(at); [[fallthrough]];
    case DW_RLE_base_address: data.getAddress(at); break;
    case DW_RLE_start_length: data.getAddress(at), data.getULEB128(at); break;
    default: ended = true;
    }
    ended |= !at;
  }
  llvm::consumeError(at.takeError());
  return count;
}

/// The number of entries in a table of folders or files in the header of a line table; nothing if they have
/// no bytes, so that their number can be anything. Moves `at` to the table's end.
std::optional<std::uint64_t> plausible_entries(const llvm::DataExtractor& data, std::uint64_t& at,
                                               const FormParams& params) {
  std::vector<std::uint64_t> forms;
  bool any_bytes = false;
  const unsigned formats = data.getU8(&at);
  if (formats > most_entry_formats) return std::nullopt;
  for (unsigned count = formats; count; --count) {
    data.getULEB128(&at);
    forms.push_back(data.getULEB128(&at));
    any_bytes |= !has_no_bytes(forms.back());
  }
  const std::uint64_t claimed = data.getULEB128(&at);
  if (claimed && !any_bytes) return std::nullopt;
  std::uint64_t entries = 0;
  for (; entries < claimed && data.isValidOffset(at); ++entries)
    for (const std::uint64_t form : forms)
      if (!llvm::DWARFFormValue::skipValue(static_cast<Form>(form), data, &at, params))
        return entries; // LLVM stops
  return entries;
}

} // namespace

DebugCheck::DebugCheck(llvm::DWARFContext& context, std::uint64_t size, bool unlimited, Budget* shared)
    : context_(context), left_(unlimited ? unlimited_steps : (std::uint64_t{4} << 20) + 8 * size),
      shared_(shared) {}

bool DebugCheck::take(std::uint64_t steps) {
  if (left_ == unlimited_steps) return true;
  if (steps > left_) {
    left_ = 0;
    return false;
  }
  left_ -= steps;
  return !shared_ || shared_->take(Resource::debug_steps, 2 * steps);
}

bool DebugCheck::can_find_units() {
  if (can_find_units_) return *can_find_units_;
  can_find_units_ = false;
  std::unordered_set<std::uint64_t, NumberHash> known;
  const llvm::DWARFDataExtractor aranges(context_.getDWARFObj().getArangesSection(),
                                         context_.isLittleEndian(), 0);
  llvm::DWARFDebugArangeSet set;
  for (std::uint64_t at = 0; aranges.isValidOffset(at);) {
    llvm::Error error = set.extract(aranges, &at, [](llvm::Error e) { llvm::consumeError(std::move(e)); });
    const bool failed = bool(error);
    llvm::consumeError(std::move(error));
    if (failed) break; // as LLVM
    known.insert(set.getCompileUnitDIEOffset());
  }
  for (const auto& unit : context_.compile_units()) {
    if (known.contains(unit->getOffset())) continue;
    if (!can_read(*unit)) return false;
    const llvm::DWARFDie entry = unit->getUnitDIE();
    if (const auto ranges = entry.find(DW_AT_ranges); ranges && !take_ranges(*unit, *ranges)) return false;
  }
  can_find_units_ = true;
  return true;
}

/// LLVM reads the lists of a split unit of DWARF 4 in the skeleton's file, from where its last skeleton says;
/// and those of a unit of another version than its skeleton in the wrong section.
bool DebugCheck::can_read_split(llvm::DWARFUnit& skeleton, llvm::DWARFUnit& split) {
  if (split.getVersion() != skeleton.getVersion()) return false;
  const std::uint64_t base = skeleton.getUnitDIE().getRangesBaseAttribute().value_or(0);
  std::optional<std::uint64_t>& known = units_[&split].ranges_base;
  if (!known) known = base;
  return *known == base;
}

bool DebugCheck::can_read(llvm::DWARFUnit& unit) {
  std::optional<bool>& known = units_[&unit].readable;
  if (!known) {
    const Abbreviations& found = abbreviations(unit);
    // LLVM then searches for each entry's abbreviation from the first one on.
    const std::uint64_t search = found.consecutive ? 0 : unit.getLength() / 32 * found.count;
    known = found.fit && take(search);
  }
  return *known;
}

const DebugCheck::Abbreviations& DebugCheck::abbreviations(llvm::DWARFUnit& unit) {
  const llvm::DWARFObject& file = unit.getContext().getDWARFObj();
  const std::uint64_t offset = unit.getAbbreviationsOffset();
  const auto [at, added] = abbreviations_.try_emplace({&file, offset});
  if (added)
    at->second =
        read_abbreviations(unit.isDWOUnit() ? file.getAbbrevDWOSection() : file.getAbbrevSection(), offset);
  return at->second;
}

DebugCheck::Abbreviations DebugCheck::read_abbreviations(llvm::StringRef section, std::uint64_t offset) {
  Abbreviations result;
  const llvm::DataExtractor data(section, true, 8);
  if (!data.isValidOffset(offset)) return result; // which LLVM's extractor does not check
  std::uint64_t at = offset, last = 0;
  while (const std::uint64_t code = data.getULEB128(&at)) {
    if (result.count++ && code != last + 1) result.consecutive = false;
    last = code;
    data.getULEB128(&at);
    data.getU8(&at);
    std::uint64_t attributes = 0, empty = 0;
    for (;;) {
      const std::uint64_t attribute = data.getULEB128(&at), form = data.getULEB128(&at);
      if (attribute == 0 && form == 0) break;
      if (form == DW_FORM_implicit_const) data.getSLEB128(&at);
      empty += has_no_bytes(form);
      if (++attributes > most_attributes || empty > most_empty_attributes) return result;
    }
    if (!take(steps_per_declaration + steps_per_attribute * attributes)) return result;
  }
  result.fit = true;
  return result;
}

namespace {

/// For entries whose list of children is cut, LLVM takes the end of the last list in the unit for theirs,
/// never meets it, and crashes.
bool has_sound_end(llvm::DWARFUnit& unit) {
  if (!unit.getUnitDIE(false).isValid()) return true;
  const llvm::DWARFDebugInfoEntry& last =
      *unit.getDIEAtIndex(static_cast<unsigned>(unit.getNumDIEs() - 1)).getDebugInfoEntry();
  return last.getTag() != llvm::dwarf::DW_TAG_null || last.getParentIdx().value_or(0) == 0;
}

} // namespace

bool DebugCheck::can_list(llvm::DWARFUnit& unit) {
  std::optional<bool>& known = units_[&unit].listable;
  if (!known) known = can_read(unit) && take(steps_per_entry_byte * unit.getLength()) && has_sound_end(unit);
  return *known;
}

bool DebugCheck::can_read_lines(llvm::DWARFUnit& unit) {
  std::optional<bool>& known = units_[&unit].has_lines;
  if (!known) known = can_read(unit) && take_lines(unit);
  return *known;
}

bool DebugCheck::can_look_up(llvm::DWARFUnit& unit) {
  std::optional<bool>& known = units_[&unit].fit;
  if (!known) known = can_list(unit) && look_at_entries(unit) && can_read_lines(unit);
  return *known;
}

bool DebugCheck::look_at_entries(llvm::DWARFUnit& unit) {
  Unit& result = units_[&unit];
  std::vector<std::uint16_t> levels;
  levels.reserve(unit.getUnitDIE(false).isValid() ? unit.getNumDIEs() : 0);
  for (const llvm::DWARFDebugInfoEntry& entry : unit.dies()) {
    const std::optional<std::uint32_t> parent = entry.getParentIdx();
    levels.push_back(parent ? static_cast<std::uint16_t>(levels[*parent] + 1) : 0);
    if (levels.back() > deepest_entry) return false;
    const auto tag = entry.getTag();
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    const auto* const abbreviation = entry.getAbbreviationDeclarationPtr();
    const bool has_list = abbreviation->findAttributeIndex(DW_AT_ranges).has_value();
    if (!has_list && result.has_functions) continue;
    const llvm::DWARFDie function(&unit, &entry);
    if (has_list && !take_ranges(unit, *function.find(DW_AT_ranges))) return false;
    if (result.has_functions) continue;
    auto ranges = function.getAddressRanges();
    if (ranges)
      result.has_functions =
          std::ranges::any_of(*ranges, [](const auto& range) { return range.LowPC != range.HighPC; });
    else
      llvm::consumeError(ranges.takeError());
  }
  return true;
}

bool DebugCheck::take_ranges(llvm::DWARFUnit& unit, const llvm::DWARFFormValue& ranges) {
  std::optional<std::uint64_t> offset = ranges.getAsSectionOffset();
  if (offset && ranges.getForm() == DW_FORM_rnglistx)
    offset = unit.getRnglistOffset(static_cast<std::uint32_t>(*offset));
  if (!offset) return true;
  const bool old = unit.getVersion() < 5, split = unit.isDWOUnit() && !old;
  if (unit.isDWOUnit() && old) *offset += units_[&unit].ranges_base.value_or(0);
  const llvm::DWARFObject& object = split ? unit.getContext().getDWARFObj() : context_.getDWARFObj();
  const llvm::DWARFSection& section = old     ? object.getRangesSection()
                                      : split ? object.getRnglistsDWOSection()
                                              : object.getRnglistsSection();
  const llvm::DataExtractor data(section.Data, context_.isLittleEndian(), unit.getAddressByteSize());
  const auto [at, added] = (old ? old_lists_ : lists_).try_emplace({&object, *offset});
  if (added)
    at->second = (old ? length_of_old_list : length_of_list)(data, *offset, left_ / steps_per_range + 1);
  return take(steps_per_range * at->second);
}

bool DebugCheck::take_lines(llvm::DWARFUnit& unit) {
  const auto offset = llvm::dwarf::toSectionOffset(unit.getUnitDIE().find(DW_AT_stmt_list));
  if (!offset || unit.isDWOUnit()) return true; // lines are those of the skeleton
  const auto [known, added] = line_tables_.try_emplace(*offset);
  if (added) known->second = take_line_table(*offset);
  return known->second;
}

bool DebugCheck::take_line_table(std::uint64_t offset) {
  const llvm::DataExtractor all(context_.getDWARFObj().getLineSection().Data, context_.isLittleEndian(), 8);
  std::uint64_t at = offset;
  FormParams params{0, 8, DWARF32};
  std::uint64_t length = all.getU32(&at);
  if (length == DW_LENGTH_DWARF64) {
    params.Format = DWARF64;
    length = all.getU64(&at);
  }
  const std::uint64_t left = all.size() > at ? all.size() - at : 0;
  if (!take(steps_per_line_byte * std::min(length, left))) return false;
  params.Version = all.getU16(&at);
  if (params.Version != 5) return true;
  params.AddrSize = all.getU8(&at);
  at += 1 + (params.Format == DWARF64 ? 8 : 4) + 5; // up to opcode_base
  const std::uint8_t opcode_base = all.getU8(&at);
  at += opcode_base ? opcode_base - 1 : 0;
  for (int table = 0; table < 2; ++table) // of folders, and of files
    if (const auto entries = plausible_entries(all, at, params); !entries || !take(steps_per_file * *entries))
      return false;
  return true;
}

} // namespace sframe::elf
