// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the CFI are cut to the pieces of the FDE that belong to it (where FDEs overlap, the one that starts
// last has the address) and collected in a run. A run ends at a row that cannot be represented, at the end of
// a piece, or at a row of another kind, and becomes one function of the builder. So an FDE with one bad row
// in the middle becomes two functions and one LeftOut. Rows are neither sorted nor kept: an FDE costs the
// execution of its instructions, once, and none at all if an FDE with equal instructions was converted before
// (KnownRows).

#include "fde_converter.h"

#include "sframe/generate/plt.h"

#include <algorithm>

namespace sframe::generate {

namespace {

constexpr std::uint64_t max_size = 0xffffffff; ///< bytes of one function

} // namespace

BuildOptions build_options(const AbiTraits& abi, const Options& options) {
  return {.version = options.version,
          .abi = abi.id,
          .byte_order = {},
          .merge_rows = options.merge_rows,
          .merge_functions = options.merge_functions,
          .share_rows = options.share_rows,
          .pcrel = options.pcrel,
          .usable = options.usable,
          .start_fields = options.start_fields,
          .aux_header = {}};
}

FdeConverter::FdeConverter(const AbiTraits& abi, const Options& options, ReturnAddresses* returns,
                           Repairer* repairer, KnownRows& known, Builder& builder, Report& report)
    : abi_(abi), options_(options), returns_(returns), repairer_(repairer), known_(known), frame_rows_(abi),
      builder_(builder), report_(report) {}

std::optional<cfi::Error> FdeConverter::convert(const cfi::CfiSection& section, const cfi::Fde& fde,
                                                const KnownRows::Place& place,
                                                std::span<const OwnedRange> pieces) {
  const bool may_be_known = has_rows_of_instructions(fde, pieces);
  if (may_be_known && add_known(fde, place)) return std::nullopt;
  properties_ = {.signal_frame = fde.cie.signal_frame,
                 .pauth_key = fde.cie.b_key ? PauthKey::b : PauthKey::a};
  covered_ = left_ = 0;
  fde_end_ = fde.end();
  has_blocks_ = false;
  const std::uint32_t first = builder_.num_fdes();
  if (repairer_) {
    repairs_ = repairer_->find(section, fde);
    show_repairs(fde, pieces);
  }
  cfi::MinimalRowCursor rows(section, fde);
  std::size_t piece = 0;
  std::uint64_t done = fde.start;
  for (cfi::MinimalRow row; piece < pieces.size() && rows.next(row);) {
    for (; piece < pieces.size() && pieces[piece].begin < row.end; ++piece) {
      const std::uint64_t begin = std::max(row.begin, pieces[piece].begin);
      const std::uint64_t end = std::min(row.end, pieces[piece].end);
      if (begin < end) add_row(row, begin, end);
      if (pieces[piece].end > row.end) break;
      extend_over_padding();
      flush();
    }
    done = row.end;
  }
  flush();
  if (rows.error())
    for (; piece < pieces.size(); ++piece)
      leave_out(std::max(done, pieces[piece].begin), pieces[piece].end, bad_cfi);
  // With a row at its end, which is dropped, it would have other rows if it were longer.
  if (may_be_known && !rows.error() && rows.relocatable() && rows.location() < fde.end() && left_ == 0 &&
      !has_blocks_ && builder_.num_fdes() == first + 1)
    known_.add(place, {builder_.last_added(), static_cast<std::uint32_t>(rows.location() - fde.start)});
  count_fde();
  return rows.error();
}

/// True if the FDE's CIE, instructions and size decide what it becomes.
bool FdeConverter::has_rows_of_instructions(const cfi::Fde& fde, std::span<const OwnedRange> pieces) const {
  return !repairer_ && !returns_ && fde.size <= max_size && pieces.size() == 1 &&
         pieces.front().begin == fde.start && pieces.front().end == fde.end();
}

/// Adds the function of an FDE that has the same rows as an earlier one.
bool FdeConverter::add_known(const cfi::Fde& fde, const KnownRows::Place& place) {
  const KnownRows::Entry* const known = known_.find(place);
  if (!known || known->last_offset >= fde.size ||
      !builder_.add_again(known->function, fde.start, static_cast<std::uint32_t>(fde.size)))
    return false;
  covered_ = fde.size;
  left_ = 0;
  count_fde();
  return true;
}

void FdeConverter::count_fde() {
  Report::Functions& functions = report_.functions;
  ++functions.total;
  ++(covered_ == 0 ? functions.skipped : left_ == 0 ? functions.converted : functions.partial);
  report_.pc_bytes.total += covered_ + left_;
  report_.pc_bytes.covered += covered_;
}

/// Calls Options::on_repairs for those in `pieces`.
void FdeConverter::show_repairs(const cfi::Fde& fde, std::span<const OwnedRange> pieces) const {
  if (!options_.on_repairs) return;
  std::vector<Repair> owned;
  auto piece = pieces.begin();
  for (const Repair& repair : repairs_) {
    while (piece != pieces.end() && piece->end <= repair.begin) ++piece;
    if (piece != pieces.end() && piece->begin <= repair.begin) owned.push_back(repair);
  }
  if (!owned.empty()) options_.on_repairs({fde, owned, repairer_->analyzer()});
}

void FdeConverter::add_row(const cfi::MinimalRow& row, std::uint64_t begin, std::uint64_t end) {
  if (const FrameRow* const made = frame_rows_.make(row)) return append_repaired(*made, begin, end);
  flush();
  if (frame_rows_.reason() == cfi::Unrepresentable::cfa_plt) return append_plt(row, begin, end);
  leave_out(begin, end, reason(frame_rows_.reason()));
}

/// Extends the run in progress over the padding after the FDE if it ends with a call.
void FdeConverter::extend_over_padding() {
  if (!returns_ || rows_.empty() || end_ != fde_end_) return;
  const std::uint64_t size = returns_->padding_after(begin_ + rows_.back().offset, end_);
  if (size == 0 || end_ - begin_ + size > max_size) return;
  end_ += size;
  ++report_.extended;
}

/// Appends a row, except where a repair takes its place.
void FdeConverter::append_repaired(const FrameRow& row, std::uint64_t begin, std::uint64_t end) {
  while (!repairs_.empty() && repairs_.front().end <= begin) repairs_ = repairs_.subspan(1);
  for (const Repair& repair : repairs_) {
    if (repair.begin >= end) break;
    const std::uint64_t from = std::max(begin, repair.begin), to = std::min(end, repair.end);
    report_.repairs.push_back({from, to, repair.before, repair.after});
    if (options_.repair != Options::Repair::apply) continue;
    if (begin < from) append(row, begin, from);
    append(repair.after, from, to);
    begin = to;
  }
  if (begin < end) append(row, begin, end);
}

/// Appends a row to the run in progress, which it continues.
void FdeConverter::append(const FrameRow& row, std::uint64_t begin, std::uint64_t end) {
  if (rows_.empty() || end - begin_ > max_size) {
    flush();
    begin_ = begin;
  }
  const std::uint64_t represented_end = begin_ + std::min(end - begin_, max_size);
  if (!options_.merge_rows || rows_.empty() || !rows_.back().same_rules(row)) {
    rows_.push_back(row);
    rows_.back().offset = static_cast<std::uint32_t>(begin - begin_);
  }
  end_ = represented_end;
  if (represented_end < end) {
    flush();
    leave_out(represented_end, end, reason(RefusalReason::offset_range));
  }
}

/// Repeating rows: whole blocks become a PCMASK function, which counts blocks from its own start; parts of a
/// block in front of and after them, ordinary rows.
void FdeConverter::append_plt(const cfi::MinimalRow& row, std::uint64_t begin, std::uint64_t end) {
  has_blocks_ = true;
  if (!options_.plt) return;
  const auto plt = cfi::plt_cfa(row.expression(row.cfa), abi_);
  if (!plt) return leave_out(begin, end, reason(cfi::Unrepresentable::cfa_expression));
  const auto before = cfi::to_frame_row(plt_row(row, *plt, 0), abi_);
  const auto after = cfi::to_frame_row(plt_row(row, *plt, plt->threshold), abi_);
  if (!before || !after) return leave_out(begin, end, reason(before ? after.error() : before.error()));

  const auto append_part = [&](std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    const std::uint64_t in_block = from & plt->mask;
    const std::uint64_t before_step = plt->threshold > in_block ? plt->threshold - in_block : 0;
    const std::uint64_t step = from + std::min(to - from, before_step);
    if (from < step) append(*before, from, step);
    if (step < to) append(*after, step, to);
    flush();
  };
  const std::uint64_t in_block = begin & plt->mask;
  const std::uint64_t aligned =
      in_block ? begin + std::min<std::uint64_t>(end - begin, plt->block_size() - in_block) : begin;
  const std::uint64_t blocks_end = aligned + (end - aligned) / plt->block_size() * plt->block_size();
  append_part(begin, aligned);
  append_blocks(aligned, blocks_end, *plt, *before, *after);
  append_part(blocks_end, end);
}

void FdeConverter::append_blocks(std::uint64_t begin, std::uint64_t end, const cfi::PltCfa& plt,
                                 const FrameRow& before, const FrameRow& after) {
  if (begin == end) return;
  if (plt.block_size() > 0xff || end - begin > max_size)
    return leave_out(begin, end,
                     reason(plt.block_size() > 0xff ? RefusalReason::rep_size : RefusalReason::offset_range));
  Fde fde = properties_;
  fde.pc_type = PcType::mask;
  fde.rep_size = static_cast<std::uint8_t>(plt.block_size());
  FrameRow rows[] = {before, after};
  rows[0].offset = 0;
  rows[1].offset = plt.threshold;
  add(begin, end, rows, fde);
}

void FdeConverter::flush() {
  if (rows_.empty()) return;
  add(begin_, end_, rows_, properties_);
  rows_.clear();
}

/// Adds a run of rows, as several functions if one cannot hold them.
void FdeConverter::add(std::uint64_t begin, std::uint64_t end, std::span<FrameRow> rows, Fde fde) {
  fde.start = begin;
  fde.size = static_cast<std::uint32_t>(end - begin);
  const std::uint64_t left_before = left_;
  builder_.add_parts(fde, rows, [this](AddressRange range, const Refusal& why) {
    leave_out(range.start, range.end(), reason(why.reason));
  });
  covered_ += std::min(end, fde_end_) - begin - (left_ - left_before); // without the padding after it
}

void FdeConverter::leave_out(std::uint64_t begin, std::uint64_t end, Reason reason) {
  end = std::min(end, fde_end_);
  if (begin >= end) return;
  report_.leave_out(begin, end, reason, left_ != 0);
  left_ += end - begin;
}

} // namespace sframe::generate
