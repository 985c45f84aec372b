// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "unit_rows.h"

#include "compare_rows.h"
#include "sframe/convert.h"
#include "sframe/generate/call_sites.h"

#include <algorithm>

namespace sframe::verify {

namespace {

/// Limit of rows of other functions read for a function's tail calls, in addition to what its size allows.
constexpr std::uint64_t min_rows_elsewhere = 4096;

} // namespace

FrameRow resolved_entry(const AbiTraits& abi) {
  return resolve_fixed(abi.entry_row(), abi.fixed_ra_offset, abi.fixed_fp_offset);
}

UnitRows::UnitRows(const Input& input, Budget& budget, std::span<const OwnedRange> functions)
    : input_(input), budget_(budget), abi_(*input.image()->abi()), functions_(functions) {}

void UnitRows::open(const CodeUnit& unit) {
  unit_ = &unit;
  placed.clear();
  rows_elsewhere_ = WorkLimit(min_rows_elsewhere + 16 * (unit.end - unit.begin));
  cfi_rules_.clear();
  if (!unit.cfi) return;
  CfiRows rows(input_, &budget_, {&*unit.cfi, 1}, nullptr);
  for (CfiInterval interval; rows.next(interval);) cfi_rules_.emplace_back(interval.begin, interval.rule);
}

/// The landing pads of the function's calls, from the language-specific data area.
std::vector<code::CallSite> UnitRows::call_sites() const {
  if (!unit_->cfi) return {};
  const auto fde = input_.cfi()[unit_->cfi->source].section.fde(unit_->cfi->item);
  if (!fde) return {};
  return generate::call_sites(*input_.image(), *fde, abi_, &budget_);
}

/// The rows that help the analysis if code alone is ambiguous. They are the CFI's if there is any,
/// so that wrong SFrame rows do not confirm themselves.
std::vector<FrameRow> UnitRows::hints() const {
  std::vector<FrameRow> rows;
  const auto add = [&](std::uint64_t address, const FrameRow& row) {
    rows.push_back(row);
    rows.back().offset = static_cast<std::uint32_t>(address - unit_->begin);
  };
  for (const auto& [address, rule] : cfi_rules_)
    if (rule.kind == CfiRule::Kind::row) add(address, rule.row);
  if (cfi_rules_.empty())
    for (const PlacedRow& row : placed) add(row.begin, row.row);
  return rows;
}

/// The row at the unit's start: the CFI's (so that a wrong SFrame row does not confirm itself), else
/// SFrame's, else that of a canonical entry.
FrameRow UnitRows::entry() const {
  if (!cfi_rules_.empty() && cfi_rules_.front().second.kind == CfiRule::Kind::row)
    return cfi_rules_.front().second.row;
  if (placed.front().begin == unit_->begin) return placed.front().row;
  return resolved_entry(abi_);
}

/// Cold parts start inside a function, and parts that rows made from code cover. If the CFA is in another
/// register than SP, an earlier part may have put it there, or into one that calls preserve, and a frame
/// address into an FP that was saved.
std::uint64_t UnitRows::unknown_at_start() const {
  std::uint64_t registers = 0;
  if (!cfi_rules_.empty() && entry().same_rules(resolved_entry(abi_))) return registers;
  if (entry().fp.kind == Rule::Kind::stored) registers |= code::State::bit(abi_.fp);
  for (const PlacedRow& row : placed) {
    const Rule& cfa = row.row.cfa;
    if (cfa.kind != Rule::Kind::value || cfa.base == abi_.sp) continue;
    registers |= code::State::bit(cfa.base);
    if (cfa.base == abi_.fp) continue;
    registers |= ~code::machine(abi_).call_clobbered &
                 ~(code::State::bit(abi_.sp) | code::State::bit(abi_.fp) | code::State::bit(abi_.ra));
  }
  return registers;
}

const PlacedRow* UnitRows::find(std::uint64_t address) const {
  // Mostly the row of the address before, or the next one.
  const auto is_last_not_above = [&](std::size_t i) {
    return i < placed.size() && placed[i].begin <= address &&
           (i + 1 == placed.size() || placed[i + 1].begin > address);
  };
  if (!is_last_not_above(found_) && !is_last_not_above(++found_)) {
    const PlacedRow* const row = last_not_above(placed, address, &PlacedRow::begin);
    if (!row) return nullptr;
    found_ = static_cast<std::size_t>(row - placed.data());
  }
  return address < placed[found_].end ? &placed[found_] : nullptr;
}

std::optional<CfiRule> UnitRows::cfi_rule(std::uint64_t pc) const {
  const auto* const rule = last_not_above(cfi_rules_, pc, &std::pair<std::uint64_t, CfiRule>::first);
  return rule ? std::optional(rule->second.at(pc)) : std::nullopt;
}

bool UnitRows::cfi_agrees(std::uint64_t address, const PlacedRow& row) const {
  const auto rule = cfi_rule(std::max(address, row.begin));
  return rule && compare(row.row, *rule, abi_).count == 0;
}

bool UnitRows::is_start_of_function(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(functions_, address, {}, &OwnedRange::begin);
  return at != functions_.end() && at->begin == address;
}

/// SFrame's row at an address outside the function. Empty also once the limit is used up: many jumps deep
/// into functions with many rows are costly.
std::optional<FrameRow> UnitRows::find_elsewhere(std::uint64_t address) {
  const OwnedRange* const found_function = last_not_above(functions_, address, &OwnedRange::begin);
  if (!found_function || address >= found_function->end) return std::nullopt;
  const OwnedRange& function = *found_function;
  const SframePart& part = input_.parts()[function.source];
  const auto fde = part.section.fde(function.item);
  const auto begin = fde ? input_.address(part, *fde) : std::nullopt;
  if (!begin || fde->pc_type == PcType::mask || !rows_elsewhere_.spend(1)) return std::nullopt;
  std::optional<FrameRow> found;
  RowCursor rows = part.section.rows(*fde);
  for (FrameRow row; rows.next(row) && *begin + row.offset <= address && rows_elsewhere_.spend(1);)
    found = row;
  if (!found) return std::nullopt;
  const Header& header = part.section.header();
  return resolve_fixed(*found, header.fixed_ra_offset, header.fixed_fp_offset);
}

} // namespace sframe::verify
