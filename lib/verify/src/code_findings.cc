// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pending finding is a run of neighbouring instructions with one row and one kind of fault. settle() ends
// it, when control leaves or the row is right again, and chooses its ID by what came after:
//
//   K201, K202   the CFA is wrong; if the function returns next, the row is one for the epilogue: K211
//   K201, K202   under the function's first row, and right from the next one on: K212, once for a function
//   K207         two paths disagree; if control stops next: K208
//
// Texts are the expensive part: each finding takes steps_per_finding from the budget.

#include "code_findings.h"

#include "code_text.h"
#include "compare_rows.h"
#include "sframe/code/row_check.h"

#include <algorithm>

namespace sframe::verify {

namespace {

using code::Agreement;
using code::Exit;

/// Steps of code analysis that a finding counts as: its texts take longer than many instructions, and all
/// findings of some functions are in memory at once.
constexpr std::uint64_t steps_per_finding = 128;

/// Ends the message if SFrame reproduces wrong CFI.

bool leaves(Exit exit) {
  return exit == Exit::returns || exit == Exit::returns_wrong || exit == Exit::returns_unknown ||
         exit == Exit::tail_call || exit == Exit::indirect_tail_call;
}

} // namespace

CodeFindings::CodeFindings(const Input& input, Budget& budget, const UnitRows& rows, Verdicts& verdicts,
                           Sink& sink)
    : input_(input), budget_(budget), abi_(*input.image()->abi()), rows_(rows), verdicts_(verdicts),
      sink_(sink), merger_(input, sink) {}

/// A finding at the instruction, without a message.
Finding CodeFindings::at_instruction(Id id, const code::Reached& at) const {
  const std::uint64_t begin = at.instruction.address;
  Finding finding = input_.finding(id, begin, begin + at.instruction.length, {});
  finding.code = state_text(at.state(), abi_);
  finding.instruction = instruction_text(*input_.image(), at.instruction, abi_);
  return finding;
}

Finding CodeFindings::describe(Id id, const code::Reached& at, const PlacedRow& row, std::string message) {
  (void)budget_.take(Resource::code_steps, steps_per_finding);
  Finding finding = at_instruction(id, at);
  finding.message = std::move(message);
  finding.sframe = row_text(row.row, abi_);
  // A row that starts inside the instruction applies from there on.
  if (const auto rule = rows_.cfi_rule(std::max(at.instruction.address, row.begin)))
    finding.cfi = rule_text(*rule, abi_);
  finding.compiler =
      verify::check(id).severity != Severity::note && rows_.cfi_agrees(at.instruction.address, row);
  if (finding.compiler) finding.message += cfi_agrees_suffix;
  return finding;
}

void CodeFindings::contradict(Id id, const code::Reached& at, const PlacedRow& row, std::string message) {
  Finding finding = describe(id, at, row, std::move(message));
  verdicts_.add(row.part, row.function,
                finding.compiler ? Verdict::contradiction_in_cfi : Verdict::contradiction);
  sink_.add(std::move(finding));
}

/// The row cannot be checked here: adds the reason.
void CodeFindings::add_undecided(const code::Reached& at, const PlacedRow& row, std::string why) {
  const bool is_certain = at.certainty == code::Certainty::certain;
  if (!is_certain && input_.in_stubs(at.instruction.address)) return; // may be data
  verdicts_.add(row.part, row.function, Verdict::undecided);
  merger_.add(is_certain ? Id::K303 : Id::K302, at.instruction.address,
              at.instruction.address + at.instruction.length,
              [&](Finding& finding) { finding = describe(finding.id, at, row, std::move(why)); });
}

/// A contradiction at an instruction: extends that of the preceding instruction, or starts a new one, which
/// has the message.
void CodeFindings::add_pending(Id id, const code::Reached& at, const PlacedRow& row,
                               llvm::function_ref<std::string()> message, bool larger_frame) {
  const std::uint64_t address = at.instruction.address, end = address + at.instruction.length;
  for (Pending& pending : pending_) {
    if (pending.finding.id != id || pending.end != address || pending.row.begin != row.begin) continue;
    if (pending.finding.compiler != rows_.cfi_agrees(at.instruction.address, row)) continue;
    pending.end = end;
    pending.larger_frame &= larger_frame;
    return;
  }
  pending_.push_back({describe(id, at, row, message()), address, end, row, larger_frame});
}

/// Checks whether this row is right for the findings pending from the previous row.
void CodeFindings::see_next_row(const code::Reached& at, const PlacedRow& row) {
  const std::uint64_t address = at.instruction.address;
  if (pending_.empty() || row.begin != address || at.certainty != code::Certainty::certain) return;
  if (code::check(row.row, at.state(), abi_).cfa.agreement != Agreement::agrees) return;
  for (Pending& pending : pending_) pending.next_row_right |= pending.end == address;
}

/// The function sets up its frame under its first row, and the next row describes all of it at once.
bool CodeFindings::is_late_prologue(const Pending& pending) const {
  return pending.larger_frame && pending.next_row_right && !in_blocks_ && pending.begin > pending.row.begin &&
         rows_.placed.front().begin == rows_.unit().begin &&
         pending.row.row.same_rules(rows_.placed.front().row);
}

/// Adds one finding for a function that may set up frames on several paths.
void CodeFindings::add_late_prologue(Pending& pending) {
  const Finding& first = pending.finding;
  verdicts_.add(pending.row.part, pending.row.function,
                first.compiler ? Verdict::contradiction_in_cfi : Verdict::contradiction);
  ++late_prologues_;
  if (late_prologue_ && late_prologue_->compiler <= first.compiler) return;
  late_prologue_ = std::move(pending.finding);
  late_prologue_->id = Id::K212;
  late_prologue_->end = late_prologue_->at->pc + (pending.end - pending.begin);
  late_prologue_->message = "the frame is described only from " + hex(late_prologue_->end) + " on";
  if (late_prologue_->compiler) late_prologue_->message += cfi_agrees_suffix;
}

/// Ends the run of instructions of pending findings: `exit` is how it ends, `stops` if control does not
/// return.
void CodeFindings::settle(Exit exit, bool stops) {
  for (Pending& pending : pending_) {
    Id& id = pending.finding.id;
    const bool is_cfa = id == Id::K201 || id == Id::K202;
    // A row that was right and becomes wrong while the function tears down its frame.
    if (is_cfa && leaves(exit) && pending.begin > pending.row.begin) id = Id::K211;
    if (id == Id::K207 && stops) id = Id::K208;
    const bool is_conflict = id == Id::K207 || id == Id::K208;
    if (is_cfa && id != Id::K211 && is_late_prologue(pending)) {
      add_late_prologue(pending);
      continue;
    }
    verdicts_.add(pending.row.part, pending.row.function,
                  is_conflict                ? Verdict::undecided
                  : pending.finding.compiler ? Verdict::contradiction_in_cfi
                                             : Verdict::contradiction);
    merger_.add(std::move(pending.finding), pending.begin, pending.end);
  }
  pending_.clear();
}

/// After switches_stack(): the rows describe the frame that the jump goes to.
void CodeFindings::allow_stack_switch(const code::Reached& at) {
  if (at.exit != Exit::indirect_unknown || at.state().reg(abi_.sp).base != code::Value::Base::symbol) return;
  for (Pending& pending : pending_) {
    Finding& finding = pending.finding;
    verdicts_.add(pending.row.part, pending.row.function, Verdict::undecided);
    finding.id = Id::K303;
    finding.compiler = false;
    finding.message = "the function switches to another stack";
    sink_.add(std::move(finding));
  }
  pending_.clear();
}

void CodeFindings::add_return_address(Id id, const code::Reached& at, const std::optional<FrameRow>& row) {
  if (!budget_.take(Resource::code_steps, steps_per_finding)) return;
  Finding finding = at_instruction(id, at);
  const std::string address = hex(finding.end); // the instruction's end
  finding.message = !row             ? "no row for the return address " + address
                    : id == Id::R502 ? "the row for the return address " + address + " is another function's"
                                     : "the row for the return address " + address + " differs";
  if (row) finding.sframe = row_text(*row, abi_);
  sink_.add(std::move(finding));
}

void CodeFindings::note(Id id, std::uint64_t begin, std::uint64_t end, std::string_view message) {
  if (!budget_.take(Resource::code_steps, steps_per_finding)) return;
  sink_.add(input_.finding(id, begin, end, std::string(message)));
}

void CodeFindings::end_rows() {
  if (!late_prologue_) return;
  if (late_prologues_ > 1)
    late_prologue_->message +=
        "; " + std::to_string(late_prologues_ - 1) + " more such ranges in the function";
  sink_.add(std::move(*late_prologue_));
  late_prologue_.reset();
  late_prologues_ = 0;
}

} // namespace sframe::verify
