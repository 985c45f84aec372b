// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlaceFinder visits the analysed instructions of a function by address with the repairs beside them.
// Neighbouring instructions with wrong rows are one place. Its shape follows from where it begins and ends:
//
//   early          it begins at a row, the row before was right for it, and it ends inside its row
//   wrong          it begins at a row
//   late           it does not; control flows into it, and the row after it is right for its last instruction
//   missing        the same, but that row is not
//   carried over   control does not flow into it: it follows a jump or a return

#include "bug_places.h"

#include "code_text.h"
#include "sframe/code/row_check.h"
#include "sframe/convert.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

namespace sframe::verify {

namespace {

using code::Agreement;
using code::Flow;
using code::Reached;
using code::Value;
using Shape = BugPattern::Shape;
using Fault = BugPattern::Fault;
using SpChange = BugPattern::SpChange;

/// An instruction, and what it found in SP and FP.
struct Step {
  std::uint64_t begin = 0, end = 0;
  bool is_call = false;
  bool goes_on = false; ///< to the instruction after it, perhaps among others
  Value sp, fp;
};

Fault fault_of(const code::RowCheck& check, const Rule& fp) {
  if (check.cfa.agreement == Agreement::contradicts) {
    if (check.cfa.found.base != Value::Base::cfa) return Fault::cfa_register;
    return check.cfa.found.offset > 0 ? Fault::cfa_too_high : Fault::cfa_too_low;
  }
  if (check.ra.agreement == Agreement::contradicts) return Fault::ra;
  if (!check.sign_agrees) return Fault::ra_signature;
  return fp.kind == Rule::Kind::same ? Fault::fp_unsaved : Fault::fp_place;
}

/// True if the rows differ in what is at fault.
bool differ(const FrameRow& a, const FrameRow& b, Fault fault) {
  switch (fault) {
  case Fault::cfa_too_high:
  case Fault::cfa_too_low:
  case Fault::cfa_register: return a.cfa != b.cfa;
  case Fault::ra: return a.ra != b.ra;
  case Fault::ra_signature: return a.ra_signed != b.ra_signed;
  case Fault::fp_unsaved:
  case Fault::fp_place: return a.fp != b.fp;
  }
  std::unreachable();
}

SpChange change(const Value& before, const Value& after) {
  if (before == after) return SpChange::none;
  if (before.base != after.base || before.id != after.id) return SpChange::other;
  return after.offset > before.offset ? SpChange::up : SpChange::down;
}

class PlaceFinder {
public:
  PlaceFinder(const generate::RepairedFde& fde, const AbiTraits& abi)
      : repairs_(fde.repairs), rows_(fde.analyzer.rows()), results_(*fde.analyzer.results()),
        start_(fde.fde.start), abi_(abi) {}

  std::vector<BugPlace> run() {
    results_.visit([&](const Reached& at) { visit(at); });
    close({});
    return std::move(places_);
  }

private:
  void visit(const Reached& at);
  void open(const Step& step, const Reached& at);
  /// Ends the place in progress; `next`: the instruction right after it, if control goes on to that.
  void close(std::optional<Step> next);
  const FrameRow* row_begun(std::uint64_t after, std::uint64_t until) const;
  bool row_begins(std::uint64_t after, std::uint64_t until) const { return row_begun(after, until); }
  static void blame(BugPlace& place, const Step& step, const Step& next);
  bool goes_on_to(const Step& step) const;
  bool goes_on(const Reached& at) const;
  bool fits(const FrameRow& row, const Reached& at) const {
    const code::RowCheck check = code::check(row, at.state(), abi_);
    return !row.is_outermost() && check.worst() == Agreement::agrees && check.sign_agrees;
  }

  std::span<const generate::Repair> repairs_; ///< without those that were passed
  std::span<const FrameRow> rows_;
  const code::Results& results_;
  std::uint64_t start_;
  const AbiTraits& abi_;
  std::vector<BugPlace> places_;
  bool in_place_ = false, at_row_ = false;
  bool row_before_fits_ = false; ///< the row before the one that the place begins with is right for it
  bool next_row_fits_ = false;   ///< the row after the current instruction is right before it, too
  std::optional<Step> before_;   ///< the instruction before the current one
};

bool PlaceFinder::goes_on(const Reached& at) const {
  switch (at.instruction.flow) {
  case Flow::jump:
  case Flow::indirect_jump:
  case Flow::ret:
  case Flow::stop: return false;
  case Flow::call:
  case Flow::indirect_call: return !results_.never_returns(at.instruction.address);
  default: return true;
  }
}

/// True if control goes from the instruction before `step` to it. A call that leaves another SP does not
/// return: the code after it is entered from elsewhere.
bool PlaceFinder::goes_on_to(const Step& step) const {
  return before_ && before_->goes_on && before_->end == step.begin &&
         !(before_->is_call && change(before_->sp, step.sp) != SpChange::none);
}

/// The row that begins in (after, until], if there is one.
const FrameRow* PlaceFinder::row_begun(std::uint64_t after, std::uint64_t until) const {
  const FrameRow* const row = last_not_above(rows_, until - start_, &FrameRow::offset);
  return row && row->offset > after - start_ ? row : nullptr;
}

/// `step` is the instruction that the pattern names, `next` the one that control reaches from it.
void PlaceFinder::blame(BugPlace& place, const Step& step, const Step& next) {
  place.pattern.sp = change(step.sp, next.sp);
  place.pattern.changes_fp = step.fp != next.fp;
  const bool is_about_sp =
      place.pattern.fault == Fault::cfa_too_high || place.pattern.fault == Fault::cfa_too_low;
  if (is_about_sp && place.pattern.sp == SpChange::none && !place.pattern.changes_fp) return;
  place.culprit = step.begin;
  place.culprit_length = static_cast<std::uint8_t>(step.end - step.begin);
}

void PlaceFinder::open(const Step& step, const Reached& at) {
  BugPlace& place = places_.emplace_back();
  in_place_ = true;
  place.begin = step.begin;
  const generate::Repair& repair = repairs_.front();
  place.pattern.fault = fault_of(code::check(repair.before, at.state(), abi_), repair.before.fp);
  const bool follows = goes_on_to(step);
  at_row_ = step.begin == start_;
  row_before_fits_ = false;
  if (const FrameRow* const row = row_begun(before_ ? before_->begin : start_, step.begin);
      row && row != rows_.data()) {
    const FrameRow& row_before = *std::prev(row);
    at_row_ = differ(row_before, *row, place.pattern.fault);
    row_before_fits_ = fits(row_before, at);
  }
  place.pattern.shape = at_row_ ? Shape::wrong : follows ? Shape::missing : Shape::carried_over;
  if (follows) blame(place, *before_, step);
}

void PlaceFinder::close(std::optional<Step> next) {
  if (!in_place_) return;
  in_place_ = false;
  BugPlace& place = places_.back();
  place.end = before_->end;
  if (!next) return;
  if (place.pattern.shape == Shape::missing && next_row_fits_) place.pattern.shape = Shape::late;
  if (place.pattern.shape != Shape::wrong || !row_before_fits_) return;
  if (row_begins(before_->begin, place.end)) return;
  place.pattern.shape = Shape::early;
  place.culprit_length = 0;
  blame(place, *before_, *next);
}

void PlaceFinder::visit(const Reached& at) {
  const Flow flow = at.instruction.flow;
  const Step step{.begin = at.instruction.address,
                  .end = at.instruction.address + at.instruction.length,
                  .is_call = flow == Flow::call || flow == Flow::indirect_call,
                  .goes_on = goes_on(at),
                  .sp = at.state().reg(abi_.sp),
                  .fp = at.state().reg(abi_.fp)};
  while (!repairs_.empty() && repairs_.front().end <= step.begin) repairs_ = repairs_.subspan(1);
  const bool is_wrong = !repairs_.empty() && repairs_.front().begin <= step.begin;
  const bool follows = goes_on_to(step);
  // The code after a jump has the row of the place before it for the same reason.
  const bool same = in_place_ && is_wrong && (follows || !row_begins(before_->begin, step.begin));
  if (in_place_ && !same) close(follows ? std::optional(step) : std::nullopt);
  if (is_wrong && !in_place_) open(step, at);
  if (in_place_) {
    places_.back().bytes += at.instruction.length;
    const FrameRow* const next = row_begun(step.begin, step.end);
    next_row_fits_ = next && fits(*next, at);
  }
  before_ = step;
}

} // namespace

std::vector<BugPlace> bug_places(const generate::RepairedFde& fde, const AbiTraits& abi) {
  return PlaceFinder(fde, abi).run();
}

void show_place(const generate::RepairedFde& fde, const BugPlace& place, const elf::Image& image,
                BugExample& example) {
  constexpr std::size_t before = 4, after = 3, longest = 12;
  const AbiTraits& abi = *image.abi();
  const auto text = [&](const FrameRow& row) {
    return row_text(resolve_fixed(row, abi.fixed_ra_offset, abi.fixed_fp_offset), abi);
  };
  std::size_t wrong = 0, follow = 0;
  std::deque<code::Instruction> shown;
  fde.analyzer.results()->visit([&](const Reached& at) {
    const std::uint64_t address = at.instruction.address;
    shown.push_back(at.instruction);
    if (address < place.begin && shown.size() > before) shown.pop_front();
    if (address >= place.begin && address < place.end && ++wrong > longest) {
      shown.erase(shown.end() - 2);
      ++example.left_out;
      example.left_out_at = shown.size() - 1;
    }
    return address < place.end || ++follow < after;
  });
  auto repair = fde.repairs.begin();
  for (const code::Instruction& instruction : shown) {
    BugExample::Line& line = example.lines.emplace_back();
    line.address = instruction.address;
    line.instruction = instruction_text(image, instruction, abi);
    const auto rows = fde.analyzer.rows();
    const FrameRow* const row = last_not_above(rows, instruction.address - fde.fde.start, &FrameRow::offset);
    if (row && !row->is_outermost()) line.cfi = text(*row);
    while (repair != fde.repairs.end() && repair->end <= instruction.address) ++repair;
    if (repair != fde.repairs.end() && repair->begin <= instruction.address) line.code = text(repair->after);
  }
}

} // namespace sframe::verify
