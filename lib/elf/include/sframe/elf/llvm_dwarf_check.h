// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks before LLVM's DWARF reader is used. Most of what it does is linear in the size of the debug
// information, but not what many entries share: a list of ranges, abbreviations, a line table. A file has an
// allowance for these, which follows from its size; real files use a small part of it. In a library of its
// own (sframe::elf-dwarf), for those that link LLVM's DebugInfoDWARF.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/number_hash.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace llvm {
class DWARFContext;
class DWARFFormValue;
class DWARFObject;
class DWARFUnit;
class StringRef;
} // namespace llvm

namespace sframe::elf {

/// Messages for what is left out.
inline constexpr const char* all_lines_cost_too_much =
    "debug information exceeds the cost limit: no source lines";
inline constexpr const char* lines_cost_too_much =
    "debug information exceeds the cost limit: some source lines are left out";

class DebugCheck {
public:
  /// For files of `size` bytes in all, before decompression. `unlimited`: only what would end the program is
  /// refused.
  /// With `shared`, which must outlive this, steps are also taken from its debug_steps, twice.
  DebugCheck(llvm::DWARFContext& context, std::uint64_t size, bool unlimited, Budget* shared = nullptr);

  /// Must be called for each skeleton unit whose split unit was found, before that is used: false if it
  /// cannot be, because LLVM would read its lists of ranges elsewhere than this class.
  bool can_read_split(llvm::DWARFUnit& skeleton, llvm::DWARFUnit& split);

  /// True if the unit of an address can be looked up. LLVM then reads the first entry of each unit that
  /// .debug_aranges lacks.
  bool can_find_units();

  /// True if the unit's entries can be read. Linear in its abbreviations; known units cost nothing.
  bool can_read(llvm::DWARFUnit& unit);

  /// True if the unit's entries have children that can be listed. Reads the entries; their bytes are
  /// charged once.
  bool can_list(llvm::DWARFUnit& unit);

  /// True if the unit's line table can be read; it is charged once.
  bool can_read_lines(llvm::DWARFUnit& unit);

  /// True if addresses in the unit can be looked up, in functions and lines. Reads the unit's entries.
  bool can_look_up(llvm::DWARFUnit& unit);

  /// True if the list of ranges of an entry that can_look_up() does not look at can be read; it is charged.
  bool can_read_ranges(llvm::DWARFUnit& unit, const llvm::DWARFFormValue& ranges) {
    return take_ranges(unit, ranges);
  }

  /// False if LLVM would look at all entries of the unit for each address, because none is a function.
  /// After can_look_up().
  bool has_functions(llvm::DWARFUnit& unit) { return units_[&unit].has_functions; }

private:
  struct Unit {
    std::optional<bool> readable, listable, has_lines, fit;
    bool has_functions = false;
    std::optional<std::uint64_t> ranges_base; ///< of a split unit: where its offsets of lists start
  };
  struct Abbreviations {
    bool fit = false, consecutive = true;
    std::uint64_t count = 0;
  };
  /// A file and an offset in it: split units are in files of their own.
  using Place = std::pair<const llvm::DWARFObject*, std::uint64_t>;
  bool take(std::uint64_t steps);
  const Abbreviations& abbreviations(llvm::DWARFUnit& unit);
  Abbreviations read_abbreviations(llvm::StringRef section, std::uint64_t offset);
  bool look_at_entries(llvm::DWARFUnit& unit);
  bool take_ranges(llvm::DWARFUnit& unit, const llvm::DWARFFormValue& ranges);
  bool take_lines(llvm::DWARFUnit& unit);
  bool take_line_table(std::uint64_t offset);

  llvm::DWARFContext& context_;
  std::uint64_t left_;
  Budget* shared_;
  std::optional<bool> can_find_units_;
  std::unordered_map<llvm::DWARFUnit*, Unit> units_;
  std::map<Place, Abbreviations> abbreviations_;
  std::map<Place, std::uint64_t> old_lists_, lists_;                ///< lengths of range lists
  std::unordered_map<std::uint64_t, bool, NumberHash> line_tables_; ///< whether fit, by offset
};

} // namespace sframe::elf
