// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe_rows.h"

#include "sframe/convert.h"

#include <algorithm>

namespace sframe::verify {

SframeRows::SframeRows(const Input& input, Budget* budget, std::span<const OwnedRange> pieces)
    : input_(input), budget_(budget), pieces_(pieces) {
  for (const SframePart& part : input.parts()) limits_.emplace_back(part.section.plausible_rows());
}

void SframeRows::resolve(FrameRow& row) const {
  const Header& header = input_.parts()[opened_.source].section.header();
  resolve_fixed_of(row, header.fixed_ra_offset, header.fixed_fp_offset);
}

void SframeRows::advance() {
  row_ = following_;
  has_row_ = has_following_;
  has_following_ = cursor_->next(following_);
  if (has_following_) resolve(following_);
}

void SframeRows::open(const OwnedRange& piece) {
  if (is_open_ && opened_.item == piece.item && opened_.source == piece.source) return;
  const SframePart& part = input_.parts()[piece.source];
  is_open_ = true;
  opened_ = piece;
  has_row_ = has_following_ = false;
  block_.clear();
  cursor_.reset();
  const auto fde = part.section.fde(piece.item);
  readable_ =
      fde && limits_[piece.source].spend(fde->num_fres) && Input::spend_rows(budget_, part.section, *fde);
  if (!fde) return;
  fde_ = *fde;
  begin_ = input_.address(part, fde_).value_or(piece.begin);
  if (!readable_) return;
  cursor_ = part.section.rows(fde_);
  if (part.section.outermost_throughout(fde_)) {
    row_ = FrameRow::outermost(0);
    has_row_ = true;
  } else if (fde_.pc_type == PcType::mask) {
    read_block();
  } else {
    advance();
    advance();
  }
}

/// At most 255 rows: their offsets increase and are below rep_size.
void SframeRows::read_block() {
  for (FrameRow row; cursor_->next(row); block_.push_back(row)) resolve(row);
  readable_ = !cursor_->error();
}

bool SframeRows::next(SframeInterval& interval) {
  if (piece_ == pieces_.size()) return false;
  const OwnedRange& piece = pieces_[piece_];
  if (at_ < piece.begin) at_ = piece.begin;
  open(piece);
  while (has_following_ && start_of(following_) <= at_) advance();

  using Kind = SframeInterval::Kind;
  // In place: copies of what was just written in pieces are slow.
  interval.begin = at_;
  interval.end = piece.end;
  interval.kind = Kind::none;
  interval.row = row_;
  interval.block = block_;
  interval.function_begin = begin_;
  interval.fde = &fde_;
  interval.part = piece.source;
  if (!readable_) {
    interval.kind = Kind::broken;
  } else if (!block_.empty()) {
    interval.kind = Kind::block;
  } else if (has_row_ && start_of(row_) > at_) { // the first row starts later
    interval.end = std::min(piece.end, start_of(row_));
  } else if (has_row_) {
    interval.kind = Kind::row;
    if (has_following_)
      interval.end = std::min(piece.end, start_of(following_));
    else if (cursor_->error()) // the start of the next row is unknown
      interval.kind = Kind::broken;
  } else if (cursor_->error()) {
    interval.kind = Kind::broken;
  }
  at_ = interval.end;
  if (at_ == piece.end) ++piece_;
  return true;
}

} // namespace sframe::verify
