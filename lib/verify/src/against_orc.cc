// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides are lists by address: the rows as disjoint intervals, and entries, each up to the next one. The
// comparison walks through both; what it could not compare with rows is what only ORC describes.

#include "sframe/verify/against_orc.h"

#include "compare_rows.h"
#include "merge.h"
#include "padding.h"
#include "sframe/base/address_ranges.h"
#include "sframe/convert.h"
#include "sframe/elf/object.h"
#include "sframe_rows.h"

#include <algorithm>
#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

using tables::OrcEntry;

/// The finding for a difference in the words of the comparison with CFI.
Id id_of(Id difference) {
  switch (difference) {
  case Id::C101:
  case Id::C102: return Id::O501;
  case Id::C104: return Id::O503;
  case Id::C105: return Id::O504;
  default: return Id::O502;
  }
}

class OrcComparison {
public:
  OrcComparison(const Input& input, std::span<const OrcEntry> orc, Verdicts& verdicts, Sink& sink)
      : input_(input), orc_(orc), abi_(input.parts().front().section.abi()),
        rows_(input, input.budget(), input.pieces()), verdicts_(verdicts), sink_(sink), merger_(input, sink) {
  }

  std::uint64_t run();

private:
  void compare_interval();
  void compare_with(const OrcEntry& entry, std::uint64_t begin, std::uint64_t end);
  void compare_marks(const OrcEntry& entry, std::uint64_t begin);
  void report_uncovered();
  void add_verdict(Verdict verdict) { verdicts_.add(interval_.part, interval_.fde->number, verdict); }
  std::optional<FrameRow> row_of(const OrcEntry& entry) const {
    auto row = entry.row();
    if (row) resolve_fixed_of(*row, abi_.fixed_ra_offset, abi_.fixed_fp_offset);
    return row;
  }

  const Input& input_;
  std::span<const OrcEntry> orc_;
  const AbiTraits& abi_;
  SframeRows rows_;
  SframeInterval interval_;
  Verdicts& verdicts_;
  Sink& sink_;
  Merger merger_;
  std::optional<std::uint64_t> marked_; ///< the last function whose mark was found to differ: its start
  std::vector<AddressRange> covered_;   ///< by rows
  std::uint64_t addresses_ = 0;
};

std::uint64_t OrcComparison::run() {
  std::optional<std::uint64_t> function;
  while (rows_.next(interval_)) {
    if (function != interval_.function_begin) merger_.flush();
    function = interval_.function_begin;
    compare_interval();
  }
  merger_.flush();
  report_uncovered();
  return addresses_;
}

void OrcComparison::compare_interval() {
  using IntervalKind = SframeInterval::Kind;
  if (interval_.kind == IntervalKind::row || interval_.kind == IntervalKind::block)
    covered_.push_back({interval_.begin, interval_.end - interval_.begin});
  // Blocks are stubs, which kernels do not have.
  if (interval_.kind != IntervalKind::row) return add_verdict(Verdict::undecided);
  const OrcEntry* const first = last_not_above(orc_, interval_.begin, &OrcEntry::start);
  if (!first) add_verdict(Verdict::undecided); // the table begins later
  std::size_t number = first ? static_cast<std::size_t>(first - orc_.data()) : 0;
  for (; number < orc_.size() && orc_[number].start < interval_.end; ++number) {
    const std::uint64_t begin = std::max(interval_.begin, orc_[number].start);
    compare_with(orc_[number], begin, std::min(tables::range_of(orc_, number).end(), interval_.end));
  }
}

void OrcComparison::compare_with(const OrcEntry& entry, std::uint64_t begin, std::uint64_t end) {
  const auto row = row_of(entry);
  if (!row) return add_verdict(Verdict::undecided);
  addresses_ += end - begin;
  add_verdict(Verdict::agree);
  compare_marks(entry, begin);
  const CfiRule rule{
      .kind = CfiRule::Kind::row, .compare_cfa = true, .compare_ra = true, .compare_fp = true, .row = *row};
  for (const Id difference : compare(interval_.row, rule, abi_)) {
    add_verdict(Verdict::contradiction);
    merger_.add(id_of(difference), begin, end, [&](Finding& finding) {
      finding.message = difference_text(difference, interval_.row, rule, abi_, "ORC");
      finding.sframe = row_text(interval_.row, abi_);
      finding.orc = row_text(*row, abi_);
    });
  }
}

/// The mark is of the function as a whole.
void OrcComparison::compare_marks(const OrcEntry& entry, std::uint64_t begin) {
  if (interval_.fde->signal_frame == entry.signal || marked_ == interval_.function_begin) return;
  marked_ = interval_.function_begin;
  add_verdict(Verdict::contradiction);
  sink_.add(input_.finding(Id::O505, begin, begin,
                           entry.signal ? "ORC marks a signal frame, SFrame does not"
                                        : "SFrame marks a signal frame, ORC does not"));
}

void OrcComparison::report_uncovered() {
  std::vector<AddressRange> usable, others;
  for (std::size_t i = 0; i < orc_.size(); ++i) {
    if (orc_[i].kind == OrcEntry::Kind::undefined) continue;
    (row_of(orc_[i]) ? usable : others).push_back(tables::range_of(orc_, i));
  }
  const AddressSet open = input_.code().without(AddressSet(covered_));
  const AddressSet missing = AddressSet(std::move(usable)).in_common(open),
                   beyond = AddressSet(std::move(others)).in_common(open);
  Padding padding(input_);
  for (const AddressRange& range : missing.ranges())
    if (!padding.holds(range.start, range.end()))
      sink_.add(input_.finding(Id::O506, range.start, range.end(),
                               llvm::formatv("ORC describes {} bytes, SFrame does not", range.size).str()));
  for (const AddressRange& range : beyond.ranges())
    sink_.add(input_.finding(Id::O507, range.start, range.end(),
                             llvm::formatv("no row has what ORC says of {} bytes", range.size).str()));
}

} // namespace

Result<std::optional<std::vector<OrcEntry>>> load_orc(const Input& input) {
  if (!input.image()) return std::nullopt;
  std::optional<elf::ObjectLayout> layout;
  if (input.relocatable()) {
    auto made = elf::ObjectLayout::make(*input.image());
    if (!made) return unexpected(made.error());
    layout.emplace(std::move(*made));
  }
  const auto table = tables::OrcTable::load(layout ? layout->image() : *input.image());
  if (!table) return unexpected(table.error());
  if (!*table) return std::nullopt;
  std::vector<OrcEntry> entries;
  for (OrcEntry entry : (*table)->entries()) {
    if (layout) {
      const auto place = layout->locate(entry.start);
      const auto address = place ? input.address_in(place->section, place->offset) : std::nullopt;
      if (!address) continue;
      entry.start = *address;
    }
    entries.push_back(entry);
  }
  std::ranges::stable_sort(entries, {}, &OrcEntry::start);
  return entries;
}

std::uint64_t check_against_orc(const Input& input, std::span<const OrcEntry> orc, Verdicts& verdicts,
                                Sink& sink) {
  return input.parts().empty() ? 0 : OrcComparison(input, orc, verdicts, sink).run();
}

} // namespace sframe::verify
