// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check() gets one unit (functions that belong together) and places its rows; check_rows() analyses its code
// and visits each reached instruction with the row for it. An instruction whose row agrees, as nearly all, is
// done at once (RowFollower). Of others, add_disagreement() has the decision: first what cannot be decided,
// then the CFA, since rules relative to a wrong CFA are wrong as well, then RA and FP. Stubs and repeating
// blocks are checked piece by piece, each as if it were called. The cost is that of the analysis, which is
// charged to the budget; when that is used up, functions are undecided.

#include "code_checker.h"

#include "code_text.h"
#include "compare_rows.h"
#include "sframe/code/function_start.h"

#include <algorithm>

namespace sframe::verify {

namespace {

using code::Agreement;
using code::Exit;

/// They follow one another.
std::span<const OwnedRange> pieces_of(std::span<const CodeUnit> units) {
  if (units.empty()) return {};
  const OwnedRange* begin = units.front().sframe.data();
  const OwnedRange* end = units.back().sframe.data() + units.back().sframe.size();
  return {begin, end};
}

bool is_call(const code::Instruction& instruction) {
  return instruction.flow == code::Flow::call || instruction.flow == code::Flow::indirect_call;
}

constexpr const char* guessed_text = "the row does not match on a path that may not exist";

} // namespace

CodeChecker::CodeChecker(const Input& input, Budget& budget, std::span<const OwnedRange> functions,
                         std::span<const CodeUnit> units, code::Analyzer& analyzer,
                         code::Environment& environment, const GoRows& go, Verdicts& verdicts, Sink& sink)
    : input_(input), budget_(budget), abi_(*input.image()->abi()), rows_(input, budget, functions),
      sframe_(input, &budget, pieces_of(units)), analyzer_(analyzer), environment_(environment), go_(go),
      verdicts_(verdicts), findings_(input, budget, rows_, verdicts, sink), follower_(abi_) {}

void CodeChecker::check(const CodeUnit& unit) {
  unit_ = &unit;
  rows_.open(unit);
  go_function_ = go_.find(unit.begin);
  if (!ahead_ && !sframe_.next(ahead_.emplace())) ahead_.reset();
  while (ahead_ && ahead_->begin < unit.end) {
    const SframeInterval& at = *ahead_;
    if (at.kind == SframeInterval::Kind::block)
      check_blocks(at);
    else if (at.kind == SframeInterval::Kind::row)
      rows_.placed.push_back({at.begin, at.end, at.row, at.part, at.fde->number});
    else
      verdicts_.add(at.part, at.fde->number, Verdict::undecided);
    if (!sframe_.next(*ahead_)) ahead_.reset();
  }
  if (rows_.placed.empty()) return;
  if (go_function_)
    for (PlacedRow& row : rows_.placed) go_.forget_fp(row.row);
  call_sites_ = rows_.call_sites();
  if (!check_stubs()) {
    hints_ = rows_.hints();
    FrameRow entry = entry_row();
    if (go_function_ && !entry.is_outermost() && entry.fp.kind == Rule::Kind::undefined)
      entry.fp = Rule::same();
    check_rows(entry, unit.begin, unit.end);
  }
  findings_.end_rows();
  add_obstacles();
  add_gaps();
  findings_.flush();
}

FrameRow CodeChecker::entry_row() {
  // What the runtime pushed for the function's call is in no CFI.
  if (go_function_ && (go_function_->is_injected || go_function_->is_restorer))
    return rows_.placed.front().row;
  const FrameRow entry = rows_.entry();
  if (!entry.is_outermost() || rows_.placed.front().row.is_outermost()) return entry;
  // CFI is wrong that says that nothing has called a function, if the code returns to what has (Go's
  // sigtramp).
  const FrameRow called = resolved_entry(abi_);
  bool returns = false;
  if (analyse(called, unit_->begin, unit_->end))
    results_->visit([&](const code::Reached& at) { returns |= at.exit == Exit::returns; });
  return returns ? called : entry;
}

/// Checks the placed rows against the code that control reaches from `begin`.
void CodeChecker::check_rows(const FrameRow& entry, std::uint64_t begin, std::uint64_t end) {
  next_row_ = 0;
  previous_end_ = begin;
  if (!analyse(entry, begin, end)) {
    const bool given_up = budget_.is_used_up(Resource::code_steps);
    for (const PlacedRow& row : rows_.placed)
      verdicts_.add(row.part, row.function, given_up ? Verdict::undecided : Verdict::unreached);
    return;
  }
  results_->visit([&](const code::Reached& at) { visit(at); });
  findings_.settle(Exit::none, false);
}

/// Checks stubs with rows of their own. Each starts with the row computed from the instructions of all stubs,
/// since the CFI's can be wrong. False if the function is not a stub, or not one that is understood.
bool CodeChecker::check_stubs() {
  if (!input_.in_stubs(unit_->begin)) return false;
  call_sites_.clear();
  hints_.clear();
  bool any = false;
  const std::uint64_t size = abi_.plt_entry_size;
  (void)input_.stub_rows().visit(unit_->begin, unit_->end, [&](const generate::StubRows::Piece& piece) {
    if (piece.row->offset != 0) return true;
    any = true;
    // Stubs with a single row are merged.
    const bool is_one = piece.end != piece.stub_end;
    const std::uint64_t end = std::min(piece.stub_end, unit_->end);
    for (std::uint64_t at = piece.begin; at < end; at += is_one ? end - at : std::min(size, end - at))
      if (at >= unit_->begin) check_stub(*piece.row, at, is_one ? end : std::min(at + size, end));
    return true;
  });
  return any;
}

/// Checks a stub as if it were called. Its unreached code (which the dynamic linker returns to) is entered
/// with the same frame.
void CodeChecker::check_stub(const FrameRow& entry, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at < end && rows_.find(at);) {
    check_rows(entry, at, end);
    if (!results_ || results_->gaps().empty()) break;
    at = std::max(at + 1, results_->gaps().front().begin);
  }
}

/// Checks stubs: each block separately, as if it were called.
void CodeChecker::check_blocks(const SframeInterval& blocks) {
  const std::uint32_t size = blocks.fde->rep_size;
  std::vector<PlacedRow> others;
  std::swap(others, rows_.placed);
  findings_.set_in_blocks(true);
  call_sites_.clear();
  hints_.clear(); // otherwise the rest of a block would be assumed to match its rows
  const std::uint64_t phase = (blocks.begin - blocks.function_begin) % size;
  const std::uint64_t total = blocks.end - blocks.begin;
  for (std::uint64_t skip = phase ? size - phase : 0; skip < total; skip += size) {
    const std::uint64_t block = blocks.begin + skip,
                        block_end = block + std::min<std::uint64_t>(size, total - skip);
    rows_.placed.clear();
    for (std::size_t i = 0; i < blocks.block.size(); ++i) {
      const std::uint64_t room = block_end - block, first = blocks.block[i].offset;
      const std::uint64_t last = i + 1 < blocks.block.size() ? blocks.block[i + 1].offset : room;
      rows_.placed.push_back({block + std::min(first, room), block + std::min(last, room), blocks.block[i],
                              blocks.part, blocks.fde->number});
    }
    check_stub(resolved_entry(abi_), block, block_end);
    if (!results_) break; // not in the file; later blocks are not either
  }
  findings_.flush();
  findings_.set_in_blocks(false);
  std::swap(others, rows_.placed);
}

bool CodeChecker::analyse(const FrameRow& entry, std::uint64_t begin, std::uint64_t end) {
  results_ = nullptr;
  const auto bytes = input_.image()->read(begin, end - begin);
  if (!bytes) return false;
  results_ = &analyzer_.run({.start = begin,
                             .bytes = *bytes,
                             .entry = entry,
                             .unknown_at_start = rows_.unknown_at_start(),
                             .may_start_inside = !rows_.has_cfi(),
                             .kept_below_sp = go_function_ ? go_.frames().kept_below_sp : 0u,
                             .call_sites = call_sites_,
                             .rows = hints_,
                             .environment = &environment_,
                             .budget = &budget_});
  // States that were not joined with all others are no evidence.
  if (budget_.is_used_up(Resource::code_steps)) results_ = nullptr;
  return results_;
}

void CodeChecker::visit(const code::Reached& at) {
  const std::uint64_t address = at.instruction.address, end = address + at.instruction.length;
  const PlacedRow* row = rows_.find(address);
  const bool agrees = follower_.agrees(row ? &row->row : nullptr, at);
  const bool starts_row = next_row_ < rows_.placed.size() && rows_.placed[next_row_].begin < end;
  if (agrees && !starts_row && at.exit == Exit::none && !findings_.any_pending()) { // as most are
    previous_end_ = end;
    verdicts_.add(row->part, row->function, Verdict::agree);
    if (is_call(at.instruction)) check_return_address(at, *row);
    return;
  }
  if (row) findings_.see_next_row(at, *row);
  if (at.block_start || address != previous_end_) findings_.settle(Exit::none, address != previous_end_);
  for (; next_row_ < rows_.placed.size() && rows_.placed[next_row_].begin < end; ++next_row_) {
    const PlacedRow& inside = rows_.placed[next_row_];
    if (inside.begin <= address || at.certainty != code::Certainty::certain) continue;
    findings_.contradict(Id::K205, at, inside, "row starts inside an instruction");
  }
  previous_end_ = end;
  if (!row) return findings_.settle(Exit::none, false);
  verdicts_.add(row->part, row->function, Verdict::agree);
  if (agrees)
    findings_.settle(Exit::none, false);
  else
    add_disagreement(at, *row);
  findings_.allow_stack_switch(at);
  check_exit(at, *row);
  if (is_call(at.instruction)) check_return_address(at, *row);
  if (at.exit != Exit::none) findings_.settle(at.exit, at.exit == Exit::stops);
}

void CodeChecker::add_disagreement(const code::Reached& at, const PlacedRow& row) {
  const code::RowCheck result = code::check(row.row, at.state(), abi_);
  const Agreement worst = result.worst();
  if (worst == Agreement::unknown || at.certainty != code::Certainty::certain ||
      (worst == Agreement::conflicts && rests_on_unknown_sp(result, *results_))) {
    findings_.settle(Exit::none, false);
    const bool is_certain = at.certainty == code::Certainty::certain;
    return findings_.add_undecided(at, row, is_certain ? unknown_text(result) : guessed_text);
  }
  if (worst == Agreement::conflicts)
    return findings_.add_pending(Id::K207, at, row, [&] { return conflict_text(result, *results_, abi_); });
  if (next_row_is_late(at, row))
    return findings_.add_pending(Id::K206, at, row,
                                 [] { return "the next row should start here, one instruction earlier"; });
  const auto contradiction = [&](std::string_view what, const Rule& rule, const code::RuleCheck& check) {
    return [=, this, &rule, &check] { return rule_contradiction(what, rule, check, abi_); };
  };
  // Rules relative to a wrong CFA are wrong as well.
  if (result.cfa.agreement == Agreement::contradicts) {
    const Id id = row.row.cfa.base == abi_.sp ? Id::K201 : Id::K202;
    if (switches_stack(at, row))
      return findings_.add_undecided(at, row, "the function switches to another stack");
    const bool larger_frame =
        id == Id::K201 && result.cfa.found.base == code::Value::Base::cfa && result.cfa.found.offset < 0;
    return findings_.add_pending(id, at, row, contradiction("CFA", row.row.cfa, result.cfa), larger_frame);
  }
  if (result.ra.agreement == Agreement::contradicts)
    findings_.add_pending(Id::K203, at, row, contradiction("RA", row.row.ra, result.ra));
  else if (!result.sign_agrees)
    findings_.add_pending(Id::K203, at, row, [&] {
      return row.row.ra_signed ? "RA is not signed here" : "RA is signed here, but not in the row";
    });
  if (result.fp.agreement != Agreement::contradicts) return;
  if (is_shared_epilogue())
    return findings_.add_undecided(at, row, "the code restores registers of the function that jumps to it");
  findings_.add_pending(Id::K204, at, row, contradiction("FP", row.row.fp, result.fp));
}

/// True if the code starts with a frame that others have made, whose CFA they pass in a register: libgcc's
/// epilogues for -mcall-ms2sysv-xlogues. What it loads from memory are the caller's registers.
bool CodeChecker::is_shared_epilogue() const {
  const Rule cfa = rows_.entry().cfa;
  return cfa.kind == Rule::Kind::value && cfa.base != abi_.sp && cfa.base != abi_.fp;
}

/// __builtin_eh_return and similar: the row describes the frame that the function switches to, which is not
/// the caller of this one. Its CFA is in a register, which the instruction copies to SP.
bool CodeChecker::switches_stack(const code::Reached& at, const PlacedRow& row) const {
  if (row.row.cfa.base == abi_.sp || row.row.cfa.base == abi_.fp) return false;
  return std::ranges::binary_search(results_->obstacles(),
                                    std::pair(code::Obstacle::Kind::sp_lost, at.instruction.address), {},
                                    [](const code::Obstacle& o) { return std::pair(o.kind, o.address); });
}

/// A row was right until here, and the next one, which is already right here, starts after the instruction.
bool CodeChecker::next_row_is_late(const code::Reached& at, const PlacedRow& row) const {
  if (next_row_ == rows_.placed.size() || findings_.any_pending() || row.begin == at.instruction.address)
    return false;
  const PlacedRow& next = rows_.placed[next_row_];
  return next.begin == at.instruction.address + at.instruction.length &&
         code::check(next.row, at.state(), abi_).worst() == Agreement::agrees;
}

void CodeChecker::check_exit(const code::Reached& at, const PlacedRow& row) {
  if (at.certainty != code::Certainty::certain || findings_.any_pending()) return;
  if (at.exit == Exit::tail_call) return check_tail_call(at);
  if (at.exit != Exit::returns_wrong || row.row.is_outermost()) return;
  findings_.contradict(Id::K209, at, row, return_text(at.state(), abi_));
}

/// For calls. Readers that do not subtract 1 from a return address find the row of the next instruction,
/// which need not be in the same function if the call does not return.
void CodeChecker::check_return_address(const code::Reached& at, const PlacedRow& row) {
  if (row.row.is_outermost()) return;
  const std::uint64_t address = at.instruction.address + at.instruction.length;
  const PlacedRow* const next = rows_.find(address);
  const bool outside = !next && address >= unit_->end;
  const auto found = next ? std::optional(next->row) : outside ? rows_.find_elsewhere(address) : std::nullopt;
  if (found) {
    if (found->same_rules(row.row)) return;
    const Agreement worst = code::check(*found, at.state(), abi_).worst();
    if (worst == Agreement::agrees || worst == Agreement::unknown) return;
  }
  findings_.add_return_address(!outside && !results_->never_returns(at.instruction.address) ? Id::R504
                               : !found                                                     ? Id::R501
                               : outside                                                    ? Id::R502
                                                                                            : Id::R503,
                               at, found);
}

/// A jump out of the function must leave the frame that the target's row describes, unless it seems to lead
/// to what follows the end of a function, or of a part of one.
void CodeChecker::check_tail_call(const code::Reached& at) {
  const std::uint64_t address = at.instruction.target;
  if (address == unit_->end) return;
  const auto target = rows_.find_elsewhere(address);
  const PlacedRow* row = rows_.find(at.instruction.address);
  if (!target || !row || target->is_outermost()) return;
  // All tail calls lead to where functions start. Only branches are made where none is meant.
  const code::StartSigns signs{.is_named = at.instruction.flow == code::Flow::branch &&
                                           rows_.is_start_of_function(address)};
  if (code::may_start_function(signs, code::Arrival::by_jump)) return;
  if (code::check(*target, at.state(), abi_).cfa.agreement != Agreement::contradicts) return;
  findings_.contradict(Id::K210, at, *row, "the target expects " + row_text(*target, abi_));
}

/// Adds what prevented the analysis. Not for stubs, which jump to unknown places and contain data.
void CodeChecker::add_obstacles() {
  if (const PlacedRow& first = rows_.placed.front();
      first.begin == unit_->begin && !first.row.is_outermost() && !first.row.same_rules(resolved_entry(abi_)))
    findings_.note(Id::K305, first.begin, first.begin, "starts with " + row_text(first.row, abi_));
  if (!results_ || input_.in_stubs(unit_->begin)) return;
  for (const code::Obstacle& obstacle : results_->obstacles()) {
    using Kind = code::Obstacle::Kind;
    const std::uint64_t at = obstacle.address;
    switch (obstacle.kind) {
    case Kind::indirect_jump: findings_.note(Id::K301, at, at, "the targets of this jump are unknown"); break;
    case Kind::undecodable: findings_.note(Id::K304, at, at, "not a valid instruction"); break;
    case Kind::sp_lost: findings_.note(Id::K303, at, at, "SP is unknown from here on"); break;
    case Kind::call_falls_through: findings_.note(Id::K306, at, at, "assumed not to return"); break;
    case Kind::runs_off: break;
    case Kind::limit:
      findings_.note(Id::K302, at, at, "the function is too large to be analysed completely");
      break;
    }
  }
}

void CodeChecker::add_gaps() {
  if (!results_ || input_.in_stubs(unit_->begin)) return;
  for (const code::Gap& gap : results_->gaps()) {
    auto row =
        std::ranges::partition_point(rows_.placed, [&](const PlacedRow& r) { return r.end <= gap.begin; });
    const bool described = row != rows_.placed.end() && row->begin < gap.end;
    for (; row != rows_.placed.end() && row->begin < gap.end; ++row) {
      const bool reached = verdicts_.of(row->part, row->function) != Verdict::none;
      verdicts_.add(row->part, row->function, reached ? Verdict::undecided : Verdict::unreached);
    }
    if (described) findings_.note(Id::K302, gap.begin, gap.end, "no analysed path reaches this code");
  }
}

} // namespace sframe::verify
