// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both follow the code from its entry by lib/code. Code that is reached only perhaps is no evidence.

#include "sframe/jit/check.h"

#include "sframe/base/address_ranges.h"
#include "sframe/code/analysis.h"
#include "sframe/convert.h"
#include "sframe/section.h"

#include <algorithm>
#include <utility>

namespace sframe::jit {

namespace {

using code::Agreement;

FrameRow resolved(const FrameRow& row, const AbiTraits& abi) {
  return resolve_fixed(row, abi.fixed_ra_offset, abi.fixed_fp_offset);
}

/// Checks what is entered at one place: the function, or a block.
void check_piece(code::Analyzer& analyzer, const AbiTraits& abi, const code::Function& function,
                 std::span<const FrameRow> rows, std::uint32_t piece_offset, CheckResult& result) {
  const FrameRow* contradicted = nullptr;
  analyzer.run(function).visit([&](const code::Reached& at) {
    const auto offset = static_cast<std::uint32_t>(at.instruction.address - function.start);
    const FrameRow* const row = last_not_above(rows, offset, &FrameRow::offset);
    const auto agreement = row ? code::check(*row, at.state(), abi) : code::RowCheck{};
    const bool is_wrong = agreement.worst() == Agreement::contradicts || !agreement.sign_agrees;
    if (!row || row->is_outermost() || at.certainty != code::Certainty::certain ||
        (!is_wrong && agreement.worst() != Agreement::agrees)) {
      ++result.undecided;
    } else if (!is_wrong) {
      ++result.agreed;
    } else if (row != std::exchange(contradicted, row)) {
      auto right = code::row_of(at.state(), abi);
      if (right) *right = resolved(*right, abi);
      result.contradictions.push_back({piece_offset + offset, *row, right});
    }
  });
}

} // namespace

CheckResult check(const void* code, const Rows& rows, std::optional<FrameRow> entry) {
  const AbiTraits& abi = rows.abi();
  const auto start = reinterpret_cast<std::uint64_t>(code);
  const auto section = Section::parse(rows.section(), start);
  const auto fde = section->fde(0);
  std::vector<FrameRow> decoded;
  auto cursor = section->rows(*fde);
  for (FrameRow row; cursor.next(row);) decoded.push_back(resolved(row, abi));

  CheckResult result;
  code::Analyzer analyzer(abi);
  const std::span all(static_cast<const std::byte*>(code), rows.code_size());
  const std::uint32_t piece = fde->pc_type == PcType::mask ? fde->rep_size : rows.code_size();
  for (std::uint32_t at = 0; at < all.size(); at += std::min<std::uint32_t>(piece, rows.code_size() - at)) {
    const auto bytes = all.subspan(at, std::min<std::size_t>(piece, all.size() - at));
    check_piece(analyzer, abi,
                {.start = start + at, .bytes = bytes, .entry = entry.value_or(abi.entry_row())}, decoded, at,
                result);
  }
  return result;
}

std::optional<std::vector<FrameRow>> analyse(std::span<const std::byte> code, std::uint64_t start,
                                             std::optional<FrameRow> entry, Abi id) {
  const AbiTraits& abi = traits(id);
  code::Analyzer analyzer(abi);
  const code::Results& results =
      analyzer.run({.start = start, .bytes = code, .entry = entry.value_or(abi.entry_row())});
  std::vector<FrameRow> rows;
  bool is_complete = true;
  results.visit([&](const code::Reached& at) {
    auto row = code::row_of(at.state(), abi);
    is_complete = row && at.certainty == code::Certainty::certain && !at.is_unknown;
    if (!is_complete) return false;
    row->offset = static_cast<std::uint32_t>(at.instruction.address - start);
    if (rows.empty() || !rows.back().same_rules(*row)) rows.push_back(*row);
    return true;
  });
  if (!is_complete || rows.empty() || !results.gaps().empty()) return std::nullopt;
  return rows;
}

} // namespace sframe::jit
