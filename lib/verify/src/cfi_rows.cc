// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each section has one cursor, on the FDE of the current piece. Where an FDE contains others, its
// instructions are executed again after each of them, since only one cursor is kept; the number of such
// resumptions is limited by the size of the CFI. A rule that cannot be represented is replaced, so that the
// others of its row can be compared: unrepresentable() tries three times, once for each rule.

#include "cfi_rows.h"

#include "sframe/convert.h"

#include <algorithm>

namespace sframe::verify {

namespace {

std::uint64_t total_bytes(const Input& input) {
  std::uint64_t sum = 0;
  for (const CfiTable& table : input.cfi()) sum += table.section.bytes().size();
  return sum;
}

/// A rule of a row that cannot be a FrameRow, for which `why` is the first reason. One rule that is not
/// representable does not prevent comparing the others: it is replaced by one that is.
CfiRule unrepresentable(const cfi::MinimalRow& row, cfi::Unrepresentable why, const AbiTraits& abi) {
  using enum cfi::Unrepresentable;
  CfiRule out;
  out.compare_cfa = out.compare_ra = out.compare_fp = true;
  out.kind = CfiRule::Kind::unrepresentable;
  out.why = why;
  expected<FrameRow, cfi::Unrepresentable> converted = unexpected(why);
  cfi::MinimalRow rest = row;
  for (int attempts = 0; !converted && attempts < 3; ++attempts) {
    why = converted.error();
    if (why == cfa_plt) {
      const auto plt = cfi::plt_cfa(row.expression(row.cfa), abi);
      if (!plt) break;
      out.kind = CfiRule::Kind::plt;
      out.plt = *plt;
      rest.cfa = {cfi::CfaRule::Kind::register_offset, plt->base, plt->offset};
    } else if (why == ra_expression || why == ra_val_offset || why == ra_unsaved) {
      out.compare_ra = false;
      const auto kind =
          abi.fixed_ra_offset ? cfi::RegisterRule::Kind::offset : cfi::RegisterRule::Kind::unspecified;
      rest.rules[rest.registers.slot(rest.return_register)] = {kind, 0, abi.fixed_ra_offset};
    } else if (why == fp_expression || why == fp_val_offset) {
      out.compare_fp = false;
      rest.rules[rest.registers.slot(abi.fp)] = {};
    } else {
      break;
    }
    converted = cfi::to_frame_row(rest, abi);
  }
  if (converted && out.kind == CfiRule::Kind::plt && !(out.compare_ra && out.compare_fp))
    converted = unexpected(cfa_plt);
  if (!converted) {
    out.kind = CfiRule::Kind::unrepresentable;
    out.compare_cfa = out.compare_ra = out.compare_fp = false;
    return out;
  }
  out.row = resolve_fixed(*converted, abi.fixed_ra_offset, abi.fixed_fp_offset);
  return out;
}

} // namespace

Finding cfi_finding(const CfiTable& table, const cfi::Error& error) {
  // gcc (12 to 16) writes an offset while the CFA is an expression (SVE): unwinders get over it, and only
  // compilers can mend it.
  return {.id = Id::C111,
          .at = {},
          .message = cfi::message(error.kind),
          .sframe = {},
          .cfi = {},
          .compiler = error.kind == cfi::ErrorKind::cfa_not_register,
          .table = std::string(table.name),
          .offset = error.offset};
}

CfiRows::CfiRows(const Input& input, Budget* budget, std::span<const OwnedRange> pieces, Sink* faults)
    : input_(input), budget_(budget), pieces_(pieces), resumptions_(65536 + 2 * total_bytes(input)),
      faults_(faults) {
  sources_.reserve(input.cfi().size());
  for (const CfiTable& table : input.cfi()) sources_.emplace_back(table.section.abi());
}

/// The cursor of the piece's FDE: the open one if the piece continues it.
CfiRows::Source& CfiRows::open(const OwnedRange& piece) {
  Source& source = sources_[piece.source];
  if (source.item == piece.item) return source;
  const CfiTable& table = input_.cfi()[piece.source];
  source.item = piece.item;
  source.has_row = false;
  source.cursor.reset();
  source.open = {};
  const auto fde = table.section.fde(piece.item);
  if (!fde) return source;
  const auto begin = input_.address(table, *fde);
  if (!begin) return source;
  source.open = {*fde, piece.source, *begin, *begin - fde->start};
  // An FDE that contains others is executed again after each of them.
  const bool resumed = piece.begin != *begin;
  const std::uint64_t instructions = 1 + fde->instructions.size() + fde->cie.instructions.size(); // or fewer
  if (budget_ && !budget_->take(Resource::cfi_instructions, instructions)) return source;
  if (resumed && !resumptions_.spend(64 + instructions)) return source;
  source.cursor.emplace(table.section, *fde);
  advance(source);
  return source;
}

void CfiRows::advance(Source& source) {
  source.has_row = source.cursor->next(source.row);
  if (source.has_row || !source.cursor->error() || !faults_) return;
  const OpenFde& open = source.open;
  Finding finding = cfi_finding(input_.cfi()[open.source], *source.cursor->error());
  finding.at = input_.locate(open.begin);
  finding.end = open.fde.end();
  faults_->add(std::move(finding));
}

bool CfiRows::next(CfiInterval& interval) {
  if (piece_ == pieces_.size()) return false;
  const OwnedRange& piece = pieces_[piece_];
  if (at_ < piece.begin) at_ = piece.begin;
  Source& source = open(piece);
  const std::uint64_t distance = source.open.distance;
  while (source.has_row && source.row.end + distance <= at_) advance(source);

  interval.begin = at_;
  interval.end = piece.end;
  interval.fde = &source.open;
  if (source.has_row && source.row.begin + distance <= at_) {
    set_rule(interval.rule, source, input_.cfi()[piece.source].section.abi());
    interval.end = std::min(piece.end, source.row.end + distance);
  } else {
    interval.rule = {};
  }
  at_ = interval.end;
  if (at_ == piece.end) ++piece_;
  return true;
}

void CfiRows::set_rule(CfiRule& rule, Source& source, const AbiTraits& abi) {
  if (const FrameRow* const made = source.frame_rows.make(source.row)) [[likely]] {
    rule.kind = CfiRule::Kind::row;
    rule.compare_cfa = rule.compare_ra = rule.compare_fp = true;
    // By fields: to copy the whole of what was just written in pieces is slow.
    rule.row.offset = made->offset;
    rule.row.cfa.kind = made->cfa.kind;
    rule.row.cfa.base = made->cfa.base;
    rule.row.cfa.offset = made->cfa.offset;
    rule.row.ra = made->ra;
    rule.row.fp = made->fp;
    rule.row.ra_signed = made->ra_signed;
    resolve_fixed_of(rule.row, abi.fixed_ra_offset, abi.fixed_fp_offset);
  } else {
    rule = unrepresentable(source.row, source.frame_rows.reason(), abi);
  }
}

} // namespace sframe::verify
