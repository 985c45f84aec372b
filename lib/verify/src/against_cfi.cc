// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CfiComparison::run() is the sweep: SframeRows and CfiRows are two streams of intervals by address, and
// step() gets each range in which neither changes:
//
//   SFrame    |---- row A ----|-- row B --|
//   CFI          |------ row a -----|-- row b --|
//   steps      1        2         3      4     5
//
// In 1 only SFrame has rules, in 5 only the CFI has (uncovered.h); in the others the rules are compared
// (compare_rows.h). Differences at neighbouring addresses become one finding (Merger). The cost is linear in
// the rows of both sides; only repeating blocks could cost more, and have a limit of their own. Verdicts are
// given at the end, from the marks of each function.

#include "sframe/verify/against_cfi.h"

#include "code_witness.h"
#include "compare_rows.h"
#include "disagreement.h"
#include "merge.h"
#include "padding.h"
#include "sframe/verify/against_code.h"
#include "sframe_rows.h"
#include "table_checks.h"
#include "uncovered.h"

#include <algorithm>
#include <llvm/Support/FormatVariadic.h>
#include <numeric>

namespace sframe::verify {

namespace {

/// What is known about a function so far.
enum Mark : std::uint8_t {
  mark_contradiction = 1,
  mark_undecided = 2,
  mark_any_cfi = 4,         ///< some of its addresses have CFI
  mark_signal_reported = 8, ///< the signal frame flags were found to differ
  mark_no_cfi = 16,         ///< some of its addresses have no CFI
  mark_several = 32,        ///< functions of the CFI start inside it
};

/// The highest version among the sections: a producer could have used all that it can represent.
VersionNumber version_of(const Input& input) {
  const VersionTraits* highest = nullptr;
  for (const SframePart& part : input.parts())
    if (!highest || highest->number < part.section.version().number) highest = &part.section.version();
  return VersionNumber{(highest ? highest : all_versions().back())->number};
}

/// Limit of the pieces of repeating blocks to compare: a section that shares rows can request very many.
std::uint64_t budget_for_blocks(const Input& input) {
  std::uint64_t budget = 1 << 20;
  for (const SframePart& part : input.parts()) budget += 64 * part.section.bytes().size();
  return budget;
}

/// Linker stubs are called, and often have no CFI.
bool is_stub(const Input& input, const EncodedFde& fde, std::uint64_t begin) {
  return fde.pc_type == PcType::mask || input.in_stubs(begin);
}

Finding mark_finding(const Input& input, std::uint64_t begin, std::string message) {
  return input.finding(Id::C113, begin, begin, std::move(message));
}

/// Does not need CFI: no signal handler returns to a stub.
void check_marks_of_stubs(const Input& input, Verdicts& verdicts, Sink& sink) {
  for (const OwnedRange& range : input.functions()) {
    const auto fde = input.parts()[range.source].section.fde(range.item);
    if (!fde || !fde->signal_frame || !is_stub(input, *fde, range.begin)) continue;
    verdicts.add(range.source, range.item, Verdict::contradiction);
    sink.add(
        mark_finding(input, range.begin, "SFrame marks a signal frame, but this is a linker-generated stub"));
  }
}

class CfiComparison {
public:
  CfiComparison(const Input& input, Sink* faults, const UsableRows& usable, bool code, Verdicts& verdicts,
                Sink& sink)
      : input_(input), abi_(input.cfi().front().section.abi()),
        sframe_(input, input.budget(), input.pieces()), cfi_(input, input.budget(), input.all_cfi(), faults),
        merger_(input, sink), missing_sframe_(input, version_of(input), abi_, usable, sink),
        missing_cfi_(input, sink), padding_(input), verdicts_(verdicts), sink_(sink),
        budget_(budget_for_blocks(input)) {
    std::uint64_t first = 0;
    for (const SframePart& part : input.parts()) {
      first_function_.push_back(first);
      first += part.section.num_fdes();
    }
    marks_.resize(first);
    asks_code_ = code && has_code(input);
  }

  std::uint64_t run();

private:
  void report_verdicts();
  std::uint8_t& mark() {
    return marks_[first_function_[sframe_interval_.part] + sframe_interval_.fde->number];
  }
  void next_sframe();
  void next_cfi();
  bool is_padding_after_code(std::uint64_t begin, std::uint64_t end);
  void step(std::uint64_t begin, std::uint64_t end);
  void both(std::uint64_t begin, std::uint64_t end);
  void compare_marks(std::uint64_t begin);
  void compare_blocks(std::uint64_t begin, std::uint64_t end);
  void compare_piece(const FrameRow& row, const CfiRule& rule, std::uint64_t begin, std::uint64_t end,
                     std::uint32_t period);
  void compare_keys(const FrameRow& row, const CfiRule& rule, std::uint64_t begin, std::uint64_t end);
  std::string sframe_text(const FrameRow& row) const { return row_text(row, abi_); }

  const Input& input_;
  const AbiTraits& abi_;
  SframeRows sframe_;
  CfiRows cfi_;
  SframeInterval sframe_interval_;
  CfiInterval cfi_interval_;
  bool has_sframe_interval_ = false, has_cfi_interval_ = false;
  Merger merger_;
  MissingSframe missing_sframe_;
  MissingCfi missing_cfi_;
  Padding padding_;
  Verdicts& verdicts_;
  Sink& sink_;
  WorkLimit budget_;                          ///< pieces of repeating blocks
  std::vector<std::uint64_t> first_function_; ///< per part: number of functions in the parts before it
  std::vector<std::uint8_t> marks_;           ///< per function
  std::uint64_t addresses_ = 0;
  bool asks_code_ = false;
  std::optional<CodeWitness> witness_; ///< made for the first difference
};

std::uint64_t CfiComparison::run() {
  has_sframe_interval_ = sframe_.next(sframe_interval_);
  next_cfi();
  std::uint64_t at = 0;
  while (has_sframe_interval_ || has_cfi_interval_) {
    const std::uint64_t sframe_begin =
        has_sframe_interval_ ? std::max(sframe_interval_.begin, at) : ~std::uint64_t{0};
    const std::uint64_t cfi_begin = has_cfi_interval_ ? std::max(cfi_interval_.begin, at) : ~std::uint64_t{0};
    std::uint64_t end = ~std::uint64_t{0};
    if (has_sframe_interval_)
      end = std::min(end, sframe_begin > cfi_begin ? sframe_begin : sframe_interval_.end);
    if (has_cfi_interval_) end = std::min(end, cfi_begin > sframe_begin ? cfi_begin : cfi_interval_.end);
    at = std::min(sframe_begin, cfi_begin);
    if (at < end) step(at, end);
    at = end;
    if (has_sframe_interval_ && sframe_interval_.end <= at) next_sframe();
    if (has_cfi_interval_ && cfi_interval_.end <= at) next_cfi();
  }
  missing_sframe_.finish();

  report_verdicts();
  return addresses_;
}

void CfiComparison::report_verdicts() {
  for (std::uint32_t number = 0; number < input_.parts().size(); ++number) {
    const SframePart& part = input_.parts()[number];
    const Section& section = part.section;
    std::uint32_t first = 0, several = 0;
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const std::uint8_t mark = marks_[first_function_[number] + i];
      if (mark & mark_several && several++ == 0) first = i;
      if (mark & mark_contradiction)
        verdicts_.add(number, i, Verdict::contradiction);
      else if (mark & mark_undecided || !section.fde(i)) // unreadable rows or functions
        verdicts_.add(number, i, Verdict::undecided);
      else if (!(mark & mark_no_cfi))
        verdicts_.add(number, i, Verdict::agree);
      else if (mark & mark_any_cfi) // else the CFI is no reference: other CFI may be
        verdicts_.add(number, i, Verdict::undecided);
    }
    if (several != 0)
      report_in_table(
          input_.tables()[part.table], part, Id::C115,
          llvm::formatv("{} FDEs have several functions; the first is FDE {}", several, first).str(),
          section.index_offset() + std::uint64_t{first} * section.version().entry_size, {}, sink_);
  }
}

void CfiComparison::next_sframe() {
  const std::uint32_t part = sframe_interval_.part, number = sframe_interval_.fde->number;
  const std::uint8_t marks = mark();
  has_sframe_interval_ = sframe_.next(sframe_interval_);
  if (has_sframe_interval_ && sframe_interval_.part == part && sframe_interval_.fde->number == number) return;
  input_.advance(1.0 / static_cast<double>(input_.functions().size()));
  merger_.flush();
  missing_cfi_.finish(marks & mark_any_cfi);
}

void CfiComparison::next_cfi() {
  has_cfi_interval_ = cfi_.next(cfi_interval_);
}

/// True if SFrame's row is that of the code before, and continues over padding: to the next function, or
/// where a call returns.
bool CfiComparison::is_padding_after_code(std::uint64_t begin, std::uint64_t end) {
  if (sframe_interval_.begin >= begin || !padding_.holds(begin, end)) return false;
  return (has_cfi_interval_ && cfi_interval_.begin == end) ||
         padding_.follows_call(sframe_interval_.begin, begin);
}

/// [begin, end) is in the current interval of one side, or of both.
void CfiComparison::step(std::uint64_t begin, std::uint64_t end) {
  const bool in_sframe = has_sframe_interval_ && sframe_interval_.begin <= begin,
             in_cfi = has_cfi_interval_ && cfi_interval_.begin <= begin;
  const bool has_row = in_sframe && sframe_interval_.kind != SframeInterval::Kind::none;
  if (in_sframe && in_cfi) mark() |= mark_any_cfi;
  if (in_cfi && !has_row) {
    missing_sframe_.missing(cfi_interval_, begin, end);
  } else if (in_cfi) {
    missing_sframe_.covered(cfi_interval_);
    both(begin, end);
  } else if (has_row && !is_padding_after_code(begin, end)) {
    mark() |= mark_no_cfi;
    missing_cfi_.missing(begin, end);
  }
  if (in_sframe && !has_row) mark() |= mark_undecided;
}

void CfiComparison::both(std::uint64_t begin, std::uint64_t end) {
  if (sframe_interval_.kind == SframeInterval::Kind::broken ||
      cfi_interval_.rule.kind == CfiRule::Kind::broken) {
    mark() |= mark_undecided;
    return;
  }
  addresses_ += end - begin;
  if (begin > sframe_interval_.function_begin && begin == cfi_interval_.fde->fde.start &&
      !input_.relocatable())
    mark() |= mark_several;
  compare_marks(begin);
  if (sframe_interval_.kind == SframeInterval::Kind::row && cfi_interval_.rule.kind != CfiRule::Kind::plt)
    compare_piece(sframe_interval_.row, cfi_interval_.rule, begin, end, 0);
  else
    compare_blocks(begin, end);
}

/// Compares the properties of the function as a whole.
void CfiComparison::compare_marks(std::uint64_t begin) {
  const bool signal = cfi_interval_.fde->fde.cie.signal_frame;
  if (sframe_interval_.fde->signal_frame == signal || mark() & mark_signal_reported) return;
  mark() |= mark_signal_reported | mark_contradiction;
  if (!signal && is_stub(input_, *sframe_interval_.fde, sframe_interval_.function_begin))
    return; // check_marks_of_stubs() has reported it
  sink_.add(mark_finding(input_, begin,
                         signal ? "the CFI marks a signal frame, SFrame does not"
                                : "SFrame marks a signal frame, the CFI does not"));
}

/// One or both sides repeat: every combination occurs within a common period.
void CfiComparison::compare_blocks(std::uint64_t begin, std::uint64_t end) {
  const bool block = sframe_interval_.kind == SframeInterval::Kind::block,
             plt = cfi_interval_.rule.kind == CfiRule::Kind::plt;
  const std::uint32_t sframe_period = block ? sframe_interval_.fde->rep_size : 1,
                      cfi_period = plt ? cfi_interval_.rule.plt.block_size() : 1;
  const std::uint32_t period = std::lcm(sframe_period, cfi_period);
  const std::uint64_t limit = begin + std::min<std::uint64_t>(end - begin, period);
  CfiRule rule = cfi_interval_.rule;
  for (std::uint64_t at = begin; at < limit;) {
    if (!budget_.spend(1)) {
      mark() |= mark_undecided;
      return;
    }
    std::uint64_t stop = limit;
    const FrameRow* row = &sframe_interval_.row;
    if (block) {
      const auto offset = static_cast<std::uint32_t>((at - sframe_interval_.function_begin) % sframe_period);
      const auto after = std::ranges::upper_bound(sframe_interval_.block, offset, {}, &FrameRow::offset);
      row = after == sframe_interval_.block.begin() ? nullptr : &*(after - 1);
      const std::uint32_t left =
          (after == sframe_interval_.block.end() ? sframe_period : after->offset) - offset;
      stop = at + std::min<std::uint64_t>(stop - at, left);
    }
    if (plt) {
      const std::uint64_t pc = at - cfi_interval_.fde->distance;
      const std::uint32_t offset = static_cast<std::uint32_t>(pc) & cfi_interval_.rule.plt.mask;
      const bool stepped = offset >= cfi_interval_.rule.plt.threshold;
      rule = cfi_interval_.rule.at(pc);
      const std::uint64_t left = (stepped ? cfi_period : cfi_interval_.rule.plt.threshold) - offset;
      stop = at + std::min(stop - at, left);
    }
    if (row)
      compare_piece(*row, rule, at, stop, end - begin > period ? period : 0);
    else
      mark() |= mark_undecided; // the block's first bytes have no row (S011)
    at = stop;
  }
}

void CfiComparison::compare_piece(const FrameRow& row, const CfiRule& rule, std::uint64_t begin,
                                  std::uint64_t end, std::uint32_t period) {
  const Differences differences = compare(row, rule, abi_);
  // Use the rows computed from the stub's instructions: gold's CFI for them is wrong on s390x.
  if (differences.count != 0 && input_.in_stubs(begin) && input_.stub_rows().prove(row, begin, end))
    return merger_.add(Id::C114, begin, end, [&](Finding& finding) {
      finding.message = "the stub's instructions confirm SFrame and contradict the CFI";
      finding.sframe = sframe_text(row);
      finding.cfi = rule_text(rule, abi_);
    });
  if (differences.count != 0 && asks_code_ && period == 0) {
    if (!witness_) witness_.emplace(input_);
    if (const char* const what = witness_->confirms(row, rule, *cfi_interval_.fde, begin, end))
      return merger_.add(Id::C116, begin, end, [&](Finding& finding) {
        finding.message = what;
        finding.sframe = sframe_text(row);
        finding.cfi = rule_text(rule, abi_);
      });
  }
  for (const Id id : differences) {
    mark() |= id == Id::C108 ? mark_undecided : mark_contradiction;
    merger_.add(id, begin, end, [&](Finding& finding) {
      finding.message = difference_text(id, row, rule, abi_);
      if (period) finding.message += llvm::formatv(", repeated every {} bytes", period).str();
      finding.sframe = sframe_text(row);
      finding.cfi = rule_text(rule, abi_);
    });
  }
  if (row.ra_signed && rule.row.ra_signed) compare_keys(row, rule, begin, end);
}

void CfiComparison::compare_keys(const FrameRow& row, const CfiRule& rule, std::uint64_t begin,
                                 std::uint64_t end) {
  const bool b_key = cfi_interval_.fde->fde.cie.b_key;
  if ((sframe_interval_.fde->pauth_key == PauthKey::b) == b_key) return;
  mark() |= mark_contradiction;
  merger_.add(Id::C106, begin, end, [&](Finding& finding) {
    finding.message = llvm::formatv("RA is signed with key {} in SFrame, {} in the CFI", b_key ? 'A' : 'B',
                                    b_key ? 'B' : 'A')
                          .str();
    finding.sframe = sframe_text(row);
    finding.cfi = rule_text(rule, abi_);
  });
}

bool same_abi(const Input& input) {
  return std::ranges::all_of(input.parts(), [&](const SframePart& part) {
    return &part.section.abi() == &input.cfi().front().section.abi();
  });
}

} // namespace

bool has_cfi(const Input& input) {
  return !input.cfi().empty();
}

std::uint64_t check_against_cfi(const Input& input, Verdicts& verdicts, Sink& sink, const UsableRows& usable,
                                bool code) {
  check_marks_of_stubs(input, verdicts, sink);
  if (!has_cfi(input) || !same_abi(input)) return 0;
  for (const CfiFault& fault : input.cfi_faults())
    sink.add(cfi_finding(input.cfi()[fault.table], fault.error));
  const bool two = !input.eh_frame().empty() && !input.debug_frame().empty();
  // Each entry's faults are reported once: those of .debug_frame by the comparison with .eh_frame if there is
  // one.
  struct EhFaults : Sink {
    explicit EhFaults(Sink& to) : to(to) {}
    void add(Finding finding) override {
      if (finding.table != ".debug_frame") to.add(std::move(finding));
    }
    Sink& to;
  } eh_faults(sink);
  Sink* faults = two ? static_cast<Sink*>(&eh_faults) : &sink;
  const std::uint64_t addresses = CfiComparison(input, faults, usable, code, verdicts, sink).run();
  if (two) check_frame_sections(input, sink);
  return addresses;
}

} // namespace sframe::verify
