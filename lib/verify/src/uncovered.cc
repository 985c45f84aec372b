// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MissingSframe collects, for one FDE at a time, what SFrame does not describe, and asks a Builder whether
// this version could represent it: the rows are added on trial, and the builder is replaced now and then,
// since it keeps them. Neighbouring addresses are one finding. MissingCfi is the opposite case and needs no
// trial.

#include "uncovered.h"

#include "sframe/shrink/image.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

/// A builder keeps accepted functions; it is replaced after this many.
constexpr std::uint32_t max_trials = 256;
constexpr std::uint64_t max_trial_rows = 65536;

} // namespace

MissingSframe::MissingSframe(const Input& input, VersionNumber version, const AbiTraits& abi,
                             const UsableRows& usable, Sink& sink)
    : input_(input), options_{.version = version,
                              .abi = abi.id,
                              .byte_order = {},
                              .usable = usable,
                              .aux_header = {}},
      abi_(abi), sink_(sink), builder_(options_) {
  if (input.image() && shrink::find_mark(*input.image()))
    padding_.emplace(*input.image(), std::span<const generate::LeftOut>());
}

void MissingSframe::select(const CfiInterval& cfi) {
  if (is_open_ && source_ == cfi.fde->source && fde_offset_ == cfi.fde->fde.offset) return;
  finish();
  is_open_ = true;
  source_ = cfi.fde->source;
  fde_offset_ = cfi.fde->fde.offset;
  signal_frame_ = cfi.fde->fde.cie.signal_frame;
  covered_ = false;
}

void MissingSframe::covered(const CfiInterval& cfi) {
  select(cfi);
  covered_ = true;
}

void MissingSframe::missing(const CfiInterval& cfi, std::uint64_t begin, std::uint64_t end) {
  select(cfi);
  if (cfi.rule.kind != CfiRule::Kind::broken) entries_.push_back({begin, end, cfi.rule});
}

void MissingSframe::finish() {
  const std::span<const Entry> entries = entries_;
  for (std::size_t first = 0, last; first < entries.size(); first = last) {
    for (last = first + 1; last < entries.size() && entries[last].begin == entries[last - 1].end;) ++last;
    const auto run = entries.subspan(first, last - first);
    if (covered_)
      report_part(run);
    else
      report_function(run);
  }
  entries_.clear();
  is_open_ = false;
}

void MissingSframe::report_function(std::span<const Entry> run) {
  if (auto why = obstacle(run))
    report(Id::C108, run, why->at,
           llvm::formatv("no SFrame, because of the CFI at {:x}: {}", input_.locate(why->at).pc, why->why)
               .str());
  else
    report(Id::C107, run, run.front().begin,
           llvm::formatv("no SFrame, although version {} can represent the CFI",
                         static_cast<int>(options_.version))
               .str());
}

/// True unless the row by itself is an obstacle.
bool MissingSframe::representable(const Entry& entry) const {
  if (entry.rule.kind == CfiRule::Kind::unrepresentable) return false;
  return entry.rule.kind == CfiRule::Kind::plt || !builder_.refusal(entry.rule.row);
}

bool MissingSframe::is_padding(std::span<const Entry> run) {
  return padding_ && (*padding_)(AddressRange::between(run.front().begin, run.back().end));
}

/// Reports a part of a function: splits what can be represented from what cannot.
void MissingSframe::report_part(std::span<const Entry> run) {
  for (std::size_t first = 0, last; first < run.size(); first = last) {
    for (last = first + 1; last < run.size() && representable(run[last]) == representable(run[first]);)
      ++last;
    const auto part = run.subspan(first, last - first);
    if (auto why = obstacle(part))
      report(Id::C108, part, why->at,
             llvm::formatv("no SFrame for this part of the function: {}", why->why).str());
    else if (!is_padding(part))
      report(Id::C110, part, part.front().begin, "the CFI covers this part of the function, SFrame does not");
  }
}

/// `shown`: the address whose CFI is printed.
void MissingSframe::report(Id id, std::span<const Entry> run, std::uint64_t shown, std::string message) {
  Finding finding = input_.finding(id, run.front().begin, run.back().end, std::move(message));
  const auto after = std::ranges::upper_bound(run, shown, {}, &Entry::begin);
  finding.cfi = rule_text((after == run.begin() ? after : after - 1)->rule, abi_);
  finding.table = input_.cfi()[source_].name;
  finding.offset = fde_offset_;
  sink_.add(std::move(finding));
}

std::optional<MissingSframe::Obstacle> MissingSframe::obstacle(std::span<const Entry> run) {
  rows_.clear();
  const std::uint64_t begin = run.front().begin, size = run.back().end - begin;
  for (const Entry& entry : run) {
    if (entry.rule.kind == CfiRule::Kind::unrepresentable)
      return Obstacle{entry.begin, message(entry.rule.why)};
    if (entry.rule.kind == CfiRule::Kind::plt) {
      if (auto why = plt_refusal(entry)) return why;
      continue;
    }
    if (entry.begin - begin > 0xfffffffe)
      return Obstacle{entry.begin, message(cfi::Unrepresentable::offset_range)};
    rows_.push_back(entry.rule.row);
    rows_.back().offset = static_cast<std::uint32_t>(entry.begin - begin);
  }
  if (rows_.empty()) return std::nullopt;
  Fde fde;
  fde.start = begin;
  fde.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, 0xffffffff));
  return refusal(fde, rows_, begin);
}

std::optional<MissingSframe::Obstacle> MissingSframe::plt_refusal(const Entry& entry) {
  const cfi::PltCfa& plt = entry.rule.plt;
  if (plt.block_size() > 0xff) return Obstacle{entry.begin, message(RefusalReason::rep_size)};
  FrameRow rows[2] = {entry.rule.row, entry.rule.row};
  rows[0].offset = 0;
  rows[1].offset = plt.threshold;
  rows[1].cfa.offset = static_cast<std::int32_t>(std::int64_t{rows[1].cfa.offset} + plt.step);
  Fde fde;
  fde.start = entry.begin;
  fde.size = plt.block_size();
  fde.pc_type = PcType::mask;
  fde.rep_size = static_cast<std::uint8_t>(plt.block_size());
  return refusal(fde, rows, entry.begin);
}

std::optional<MissingSframe::Obstacle> MissingSframe::refusal(const Fde& like, std::span<const FrameRow> rows,
                                                              std::uint64_t begin) {
  if (builder_.num_fdes() >= max_trials || builder_.num_fres() >= max_trial_rows)
    builder_ = Builder(options_);
  Fde fde = like;
  fde.signal_frame = signal_frame_;
  const auto added = builder_.add(fde, rows);
  // If one function is too small for the rows, several can hold them.
  if (added || added.error().reason == RefusalReason::too_many_rows) return std::nullopt;
  const std::uint32_t row = added.error().row;
  return Obstacle{row < rows.size() ? begin + rows[row].offset : begin, message(added.error().reason)};
}

void MissingCfi::missing(std::uint64_t begin, std::uint64_t end) {
  if (!runs_.empty() && runs_.back().second == begin)
    runs_.back().second = end;
  else
    runs_.emplace_back(begin, end);
}

void MissingCfi::finish(bool any_cfi) {
  for (const auto& [begin, end] : runs_) {
    if (any_cfi)
      sink_.add(
          input_.finding(Id::C110, begin, end, "SFrame covers this part of the function, the CFI does not"));
    else if (!input_.in_stubs(begin))
      sink_.add(input_.finding(Id::C109, begin, end, "SFrame covers this function, the CFI does not"));
  }
  runs_.clear();
}

} // namespace sframe::verify
