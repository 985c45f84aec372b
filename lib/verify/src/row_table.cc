// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/row_table.h"

#include "go_rows.h"
#include "sframe_rows.h"

namespace sframe::verify {

RowTable::RowTable(const Input& input) {
  if (input.parts().empty()) return;
  abi_ = &input.parts().front().section.abi();
  SframeRows rows(input, input.budget(), input.pieces());
  const GoRows go(input.image());
  for (SframeInterval at; rows.next(at);) {
    using Kind = SframeInterval::Kind;
    const auto of_go = go.find(at.begin);
    if (of_go) go.forget_fp(at.row);
    if (at.kind != Kind::row && at.kind != Kind::block) continue;
    Range range{.begin = at.begin,
                .end = at.end,
                .first = static_cast<std::uint32_t>(rows_.size()),
                .count = 1,
                .function_begin = at.function_begin,
                .rep_size = 0,
                .signal_frame = at.fde->signal_frame,
                .ends_stack = of_go && of_go->is_top};
    if (at.kind == Kind::block) {
      range.rep_size = at.fde->rep_size;
      range.count = static_cast<std::uint32_t>(at.block.size());
      rows_.insert(rows_.end(), at.block.begin(), at.block.end());
    } else if (!rows_.empty() && rows_.back().same_rules(at.row)) {
      --range.first;
    } else {
      rows_.push_back(at.row);
    }
    ranges_.push_back(range);
  }
}

std::optional<RowTable::Match> RowTable::find(std::uint64_t address) const {
  const Range* const range = last_not_above(ranges_, address, &Range::begin);
  if (!range || address >= range->end) return std::nullopt;
  if (range->rep_size == 0) return Match{rows_[range->first], range->signal_frame, range->ends_stack};
  const std::uint64_t offset = (address - range->function_begin) % range->rep_size;
  const FrameRow* found = nullptr;
  for (std::uint32_t i = 0; i < range->count && rows_[range->first + i].offset <= offset; ++i)
    found = &rows_[range->first + i];
  return found ? std::optional(Match{*found, range->signal_frame, range->ends_stack}) : std::nullopt;
}

} // namespace sframe::verify
