// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code_checker.h"

#include "code_text.h"
#include "compare_rows.h"
#include "sframe/cfi/lsda.h"
#include "sframe/convert.h"

#include <algorithm>

namespace sframe::verify {

namespace {

using code::Agreement;
using code::Exit;

/// Limit of rows of other functions read for a function's tail calls, in addition to what its size allows.
constexpr std::uint64_t min_rows_elsewhere = 4096;

std::vector<Range> pieces_of(std::span<const CodeUnit> units) {
  if (units.empty()) return {};
  const Range* begin = units.front().sframe.data();
  const Range* end = units.back().sframe.data() + units.back().sframe.size();
  return {begin, end};
}

FrameRow resolved_entry(const AbiTraits& abi) {
  return resolve_fixed(abi.entry_row(), abi.fixed_ra_offset, abi.fixed_fp_offset);
}

constexpr const char* guessed_text = "the row does not match, but this path is only assumed";

/// Ends the message if SFrame reproduces wrong CFI.
constexpr const char* cfi_too = "; the CFI agrees with SFrame";

bool leaves(Exit exit) {
  return exit == Exit::returns || exit == Exit::returns_wrong || exit == Exit::returns_unknown ||
         exit == Exit::tail_call || exit == Exit::indirect_tail_call;
}

} // namespace

CodeChecker::CodeChecker(const Input& input, std::span<const Range> functions,
                         std::span<const CodeUnit> units, code::Analyzer& analyzer,
                         code::Surroundings& surroundings, Verdicts& verdicts, Sink& sink)
    : input_(input), abi_(*input.image()->abi()), functions_(functions), sframe_(input, pieces_of(units)),
      analyzer_(analyzer), surroundings_(surroundings), verdicts_(verdicts), sink_(sink),
      merger_(input, sink) {}

void CodeChecker::check(const CodeUnit& unit) {
  unit_ = &unit;
  rows_.clear();
  late_prologue_.reset();
  late_prologues_ = 0;
  read_cfi();
  if (!ahead_ && !sframe_.next(ahead_.emplace())) ahead_.reset();
  while (ahead_ && ahead_->begin < unit.end) {
    const SframeInterval& at = *ahead_;
    if (at.kind == SframeInterval::Kind::block)
      check_blocks(at);
    else if (at.kind == SframeInterval::Kind::row)
      rows_.push_back({at.begin, at.end, at.row, at.part, at.fde->number});
    else
      verdicts_.add(at.part, at.fde->number, Verdict::undecided);
    if (!sframe_.next(*ahead_)) ahead_.reset();
  }
  if (rows_.empty()) return;
  rows_elsewhere_ = WorkLimit(min_rows_elsewhere + 16 * (unit.end - unit.begin));
  read_call_sites();
  if (!check_stubs()) {
    collect_rows();
    check_rows(entry_row(), unit.begin, unit.end);
  }
  if (late_prologue_) {
    if (late_prologues_ > 1)
      late_prologue_->message += "; " + std::to_string(late_prologues_ - 1) + " more such ranges in the function";
    sink_.add(std::move(*late_prologue_));
  }
  add_obstacles();
  add_gaps();
  merger_.flush();
}

/// Checks the rows in rows_ against the code that control reaches from `begin`.
void CodeChecker::check_rows(const FrameRow& entry, std::uint64_t begin, std::uint64_t end) {
  next_row_ = 0;
  previous_end_ = begin;
  pending_.clear();
  if (!analyse(entry, begin, end)) {
    for (const PlacedRow& row : rows_) verdicts_.add(row.part, row.function, Verdict::unreached);
    return;
  }
  results_->visit([&](const code::Reached& at) { visit(at); });
  settle(Exit::none, false);
}

/// Checks stubs with rows of their own. Each starts with the row computed from the instructions of all stubs,
/// since the CFI's can be wrong. False if the function is not a stub, or not one that is understood.
bool CodeChecker::check_stubs() {
  if (!input_.in_stubs(unit_->begin)) return false;
  call_sites_.clear();
  frame_rows_.clear();
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
  for (std::uint64_t at = begin; at < end && row_at(at);) {
    check_rows(entry, at, end);
    if (!results_ || results_->gaps().empty()) break;
    at = std::max(at + 1, results_->gaps().front().begin);
  }
}

/// Checks stubs: each block separately, as if it were called.
void CodeChecker::check_blocks(const SframeInterval& blocks) {
  const std::uint32_t size = blocks.fde->rep_size;
  std::vector<PlacedRow> others;
  std::swap(others, rows_);
  in_blocks_ = true;
  call_sites_.clear();
  frame_rows_.clear(); // otherwise the rest of a block would be assumed to match its rows
  const std::uint64_t phase = (blocks.begin - blocks.function_begin) % size;
  const std::uint64_t total = blocks.end - blocks.begin;
  for (std::uint64_t skip = phase ? size - phase : 0; skip < total; skip += size) {
    const std::uint64_t block = blocks.begin + skip, block_end = block + std::min<std::uint64_t>(size, total - skip);
    rows_.clear();
    for (std::size_t i = 0; i < blocks.block.size(); ++i) {
      const std::uint64_t room = block_end - block, first = blocks.block[i].offset;
      const std::uint64_t last = i + 1 < blocks.block.size() ? blocks.block[i + 1].offset : room;
      rows_.push_back({block + std::min(first, room), block + std::min(last, room), blocks.block[i],
                       blocks.part, blocks.fde->number});
    }
    check_stub(resolved_entry(abi_), block, block_end);
    if (!results_) break; // not in the file; later blocks are not either
  }
  merger_.flush();
  in_blocks_ = false;
  std::swap(others, rows_);
}

bool CodeChecker::analyse(const FrameRow& entry, std::uint64_t begin, std::uint64_t end) {
  results_ = nullptr;
  const auto bytes = input_.image()->read(begin, end - begin);
  if (!bytes) return false;
  results_ = &analyzer_.run({.start = begin,
                             .bytes = *bytes,
                             .entry = entry,
                             .call_sites = call_sites_,
                             .rows = frame_rows_,
                             .surroundings = &surroundings_});
  return true;
}

/// Collects the rows that help the analysis if code alone is ambiguous. They are the CFI's if there is any,
/// so that wrong SFrame rows do not confirm themselves.
void CodeChecker::collect_rows() {
  frame_rows_.clear();
  const auto add = [&](std::uint64_t address, const FrameRow& row) {
    frame_rows_.push_back(row);
    frame_rows_.back().offset = static_cast<std::uint32_t>(address - unit_->begin);
  };
  for (const auto& [address, rule] : cfi_rules_)
    if (rule.kind == CfiRule::Kind::row) add(address, rule.row);
  if (!cfi_rules_.empty()) return;
  for (const PlacedRow& row : rows_) add(row.begin, row.row);
}

/// The row at the unit's start: the CFI's (so that a wrong SFrame row does not confirm itself), else
/// SFrame's, else that of a canonical entry.
FrameRow CodeChecker::entry_row() const {
  if (!cfi_rules_.empty() && cfi_rules_.front().second.kind == CfiRule::Kind::row)
    return cfi_rules_.front().second.row;
  if (rows_.front().begin == unit_->begin) return rows_.front().row;
  return resolved_entry(abi_);
}

/// Reads the landing pads of the function's calls from the language-specific data area.
void CodeChecker::read_call_sites() {
  call_sites_.clear();
  if (!unit_->cfi) return;
  const auto fde = input_.cfi()[unit_->cfi->source].section.fde(unit_->cfi->item);
  if (!fde || !fde->lsda || fde->lsda->indirect) return;
  const std::uint64_t address = fde->lsda->value;
  std::vector<cfi::LandingPad> pads;
  // The entries before a fault are still valid.
  (void)cfi::read_landing_pads(input_.image()->bytes_at(address), address, fde->start, abi_, pads);
  for (const cfi::LandingPad& pad : pads) call_sites_.push_back({pad.begin, pad.end, pad.landing_pad});
}

const PlacedRow* CodeChecker::row_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(rows_, address, {}, &PlacedRow::begin);
  return behind != rows_.begin() && address < std::prev(behind)->end ? &*std::prev(behind) : nullptr;
}

void CodeChecker::visit(const code::Reached& at) {
  const std::uint64_t address = at.instruction.address, end = address + at.instruction.length;
  const PlacedRow* row = row_at(address);
  if (row) see_next_row(at, *row);
  if (at.block_start || address != previous_end_) settle(Exit::none, address != previous_end_);
  for (; next_row_ < rows_.size() && rows_[next_row_].begin < end; ++next_row_) {
    const PlacedRow& inside = rows_[next_row_];
    if (inside.begin <= address) continue;
    contradict(inside, describe(Id::K205, at, inside, "row starts inside an instruction"));
  }
  previous_end_ = end;
  if (!row) return settle(Exit::none, false);
  verdicts_.add(row->part, row->function, Verdict::agree);
  check_row(at, *row);
  forgive_leaving_for_another_stack(at);
  check_exit(at, *row);
  if (at.exit != Exit::none) settle(at.exit, at.exit == Exit::stops);
}

void CodeChecker::check_row(const code::Reached& at, const PlacedRow& row) {
  const code::RowCheck result = code::check(row.row, at.state, abi_);
  const Agreement worst = result.worst();
  if (worst == Agreement::agrees && result.sign_agrees) return settle(Exit::none, false);
  if (worst == Agreement::unknown || at.certainty != code::Certainty::certain ||
      (worst == Agreement::conflicts && rests_on_unknown_sp(result, *results_))) {
    settle(Exit::none, false);
    const bool is_certain = at.certainty == code::Certainty::certain;
    return add_undecided(at, row, is_certain ? unknown_text(result) : guessed_text);
  }
  if (worst == Agreement::conflicts)
    return add_pending(Id::K207, at, row, conflict_text(result, *results_, abi_));
  if (next_row_is_late(at, row))
    return add_pending(Id::K206, at, row, "the next row should start here, one instruction earlier");
  // Rules relative to a wrong CFA are wrong as well.
  if (result.cfa.agreement == Agreement::contradicts) {
    const Id id = row.row.cfa.base == abi_.sp ? Id::K201 : Id::K202;
    if (takes_another_stack(at, row)) return add_undecided(at, row, "the function switches to another stack");
    const bool larger_frame = id == Id::K201 && result.cfa.found.base == code::Value::Base::cfa && result.cfa.found.offset < 0;
    return add_pending(id, at, row, rule_contradiction("CFA", row.row.cfa, result.cfa, abi_), larger_frame);
  }
  if (result.ra.agreement == Agreement::contradicts)
    add_pending(Id::K203, at, row, rule_contradiction("RA", row.row.ra, result.ra, abi_));
  else if (!result.sign_agrees)
    add_pending(Id::K203, at, row,
                row.row.ra_signed ? "RA is not signed here" : "RA is signed here, but not in the row");
  if (result.fp.agreement == Agreement::contradicts)
    add_pending(Id::K204, at, row, rule_contradiction("FP", row.row.fp, result.fp, abi_));
}

/// __builtin_eh_return and similar: the row describes the frame that the function switches to, which is not
/// the caller of this one. Its CFA is in a register, which the instruction copies to SP.
bool CodeChecker::takes_another_stack(const code::Reached& at, const PlacedRow& row) const {
  if (row.row.cfa.base == abi_.sp || row.row.cfa.base == abi_.fp) return false;
  return std::ranges::binary_search(results_->obstacles(),
                                    std::pair(code::Obstacle::Kind::sp_lost, at.instruction.address), {},
                                    [](const code::Obstacle& o) { return std::pair(o.kind, o.address); });
}

/// The row cannot be checked here: adds the reason.
void CodeChecker::add_undecided(const code::Reached& at, const PlacedRow& row, std::string why) {
  const bool is_certain = at.certainty == code::Certainty::certain;
  if (!is_certain && input_.in_stubs(at.instruction.address)) return; // may be data
  verdicts_.add(row.part, row.function, Verdict::undecided);
  merger_.add(is_certain ? Id::K303 : Id::K302, at.instruction.address,
              at.instruction.address + at.instruction.length,
              [&](Finding& finding) { finding = describe(finding.id, at, row, std::move(why)); });
}

/// A row was right until here, and the next one, which is already right here, starts after the instruction.
bool CodeChecker::next_row_is_late(const code::Reached& at, const PlacedRow& row) const {
  if (next_row_ == rows_.size() || !pending_.empty() || row.begin == at.instruction.address) return false;
  const PlacedRow& next = rows_[next_row_];
  return next.begin == at.instruction.address + at.instruction.length &&
         code::check(next.row, at.state, abi_).worst() == Agreement::agrees;
}

Finding CodeChecker::describe(Id id, const code::Reached& at, const PlacedRow& row, std::string message) {
  Finding finding;
  finding.id = id;
  finding.at = input_.locate(at.instruction.address);
  finding.end = finding.at->pc + at.instruction.length;
  finding.message = std::move(message);
  finding.sframe = row_text(row.row, abi_);
  finding.code = state_text(at.state, abi_);
  finding.instruction = instruction_text(*input_.image(), at.instruction, abi_);
  // A row that starts inside the instruction applies from there on.
  if (const auto rule = cfi_rule(std::max(at.instruction.address, row.begin))) finding.cfi = rule_text(*rule, abi_);
  finding.compiler = verify::check(id).severity != Severity::note && cfi_agrees(at, row);
  if (finding.compiler) finding.message += cfi_too;
  return finding;
}

/// True if the CFI has the same rules as the row.
bool CodeChecker::cfi_agrees(const code::Reached& at, const PlacedRow& row) const {
  const auto rule = cfi_rule(std::max(at.instruction.address, row.begin));
  return rule && compare(row.row, *rule, abi_).count == 0;
}

/// A finding that marks the function as contradicted by the code.
void CodeChecker::contradict(const PlacedRow& row, Finding finding) {
  verdicts_.add(row.part, row.function,
                finding.compiler ? Verdict::contradiction_in_cfi : Verdict::contradiction);
  sink_.add(std::move(finding));
}

/// A contradiction at an instruction: extends that of the preceding instruction, or starts a new one.
void CodeChecker::add_pending(Id id, const code::Reached& at, const PlacedRow& row, std::string message,
                              bool larger_frame) {
  const std::uint64_t address = at.instruction.address, end = address + at.instruction.length;
  for (Pending& pending : pending_) {
    if (pending.finding.id != id || pending.end != address || pending.row.begin != row.begin) continue;
    if (pending.finding.compiler != cfi_agrees(at, row)) continue;
    pending.end = end;
    pending.larger_frame &= larger_frame;
    return;
  }
  pending_.push_back({describe(id, at, row, std::move(message)), address, end, row, larger_frame});
}

/// Checks whether this row is right for the findings pending from the previous row.
void CodeChecker::see_next_row(const code::Reached& at, const PlacedRow& row) {
  const std::uint64_t address = at.instruction.address;
  if (pending_.empty() || row.begin != address || at.certainty != code::Certainty::certain) return;
  if (code::check(row.row, at.state, abi_).cfa.agreement != Agreement::agrees) return;
  for (Pending& pending : pending_) pending.next_row_right |= pending.end == address;
}

/// The function sets up its frame under its first row, and the next row describes all of it at once.
bool CodeChecker::is_late_prologue(const Pending& pending) const {
  return pending.larger_frame && pending.next_row_right && !in_blocks_ && pending.begin > pending.row.begin &&
         rows_.front().begin == unit_->begin && pending.row.row.same_rules(rows_.front().row);
}

/// Adds one finding for a function that may set up frames on several paths.
void CodeChecker::add_late_prologue(Pending& pending) {
  const Finding& first = pending.finding;
  verdicts_.add(pending.row.part, pending.row.function,
                first.compiler ? Verdict::contradiction_in_cfi : Verdict::contradiction);
  ++late_prologues_;
  if (late_prologue_ && late_prologue_->compiler <= first.compiler) return;
  late_prologue_ = std::move(pending.finding);
  late_prologue_->id = Id::K212;
  late_prologue_->end = late_prologue_->at->pc + (pending.end - pending.begin);
  late_prologue_->message = "the frame is described only from " + hex(late_prologue_->end) + " on";
  if (late_prologue_->compiler) late_prologue_->message += cfi_too;
}

/// Ends the run of instructions of pending findings: `exit` is how it ends, `stops` if control does not
/// return.
void CodeChecker::settle(Exit exit, bool stops) {
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

/// After takes_another_stack(): the rows describe the frame that the jump goes to.
void CodeChecker::forgive_leaving_for_another_stack(const code::Reached& at) {
  if (at.exit != Exit::indirect_unknown || at.state.reg(abi_.sp).base != code::Value::Base::symbol) return;
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

void CodeChecker::check_exit(const code::Reached& at, const PlacedRow& row) {
  if (at.certainty != code::Certainty::certain || !pending_.empty()) return;
  if (at.exit == Exit::tail_call) return check_tail_call(at);
  if (at.exit != Exit::returns_wrong || row.row.is_outermost()) return;
  contradict(row, describe(Id::K209, at, row, return_text(at.state, abi_)));
}

/// A jump out of the function must leave the frame that the target's row describes. A branch that is never
/// taken (__builtin_unreachable) may lead past the end of the function, as may a jump to an empty block there
/// (LLVM's unreachable). An unrelated function that starts there is no evidence.
void CodeChecker::check_tail_call(const code::Reached& at) {
  const std::uint64_t address = at.instruction.target;
  if (address == unit_->end) return;
  const auto target = row_elsewhere(address);
  const PlacedRow* row = row_at(at.instruction.address);
  if (!target || !row || target->is_outermost()) return;
  const bool is_branch = at.instruction.flow == code::Flow::branch;
  if (is_branch && is_start_of_function(address)) return;
  if (code::check(*target, at.state, abi_).cfa.agreement != Agreement::contradicts) return;
  contradict(*row, describe(Id::K210, at, *row, "the target expects " + row_text(*target, abi_)));
}

bool CodeChecker::is_start_of_function(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(functions_, address, {}, &Range::begin);
  return at != functions_.end() && at->begin == address;
}

/// SFrame's row at an address outside the function. Empty also once the limit is used up: many jumps deep
/// into functions with many rows are costly.
std::optional<FrameRow> CodeChecker::row_elsewhere(std::uint64_t address) {
  const auto behind = std::ranges::upper_bound(functions_, address, {}, &Range::begin);
  if (behind == functions_.begin() || address >= std::prev(behind)->end) return std::nullopt;
  const Range& function = *std::prev(behind);
  const SframePart& part = input_.parts()[function.source];
  const auto fde = part.section.fde(function.item);
  const auto begin = fde ? input_.address(part, *fde) : std::nullopt;
  if (!begin || fde->pc_type == PcType::mask || !rows_elsewhere_.spend(1)) return std::nullopt;
  std::optional<FrameRow> found;
  RowCursor rows = part.section.rows(*fde);
  for (FrameRow row; rows.next(row) && *begin + row.offset <= address && rows_elsewhere_.spend(1);)
    found = row;
  if (!found) return std::nullopt;
  const Header& header = part.section.header();
  return resolve_fixed(*found, header.fixed_ra_offset, header.fixed_fp_offset);
}

void CodeChecker::read_cfi() {
  cfi_rules_.clear();
  if (!unit_->cfi) return;
  CfiRows rows(input_, {*unit_->cfi}, nullptr);
  for (CfiInterval interval; rows.next(interval);) cfi_rules_.emplace_back(interval.begin, interval.rule);
}

std::optional<CfiRule> CodeChecker::cfi_rule(std::uint64_t pc) const {
  const auto behind = std::ranges::upper_bound(cfi_rules_, pc, {}, &std::pair<std::uint64_t, CfiRule>::first);
  if (behind == cfi_rules_.begin()) return std::nullopt;
  return std::prev(behind)->second.at(pc);
}

void CodeChecker::note(Id id, std::uint64_t begin, std::uint64_t end, std::string_view message) {
  Finding finding;
  finding.id = id;
  finding.at = input_.locate(begin);
  finding.end = finding.at->pc + (end - begin);
  finding.message = message;
  sink_.add(std::move(finding));
}

/// Adds what prevented the analysis. Not for stubs, which jump to unknown places and contain data.
void CodeChecker::add_obstacles() {
  if (const PlacedRow& first = rows_.front();
      first.begin == unit_->begin && !first.row.is_outermost() && !first.row.same_rules(resolved_entry(abi_)))
    note(Id::K305, first.begin, first.begin, "starts with " + row_text(first.row, abi_));
  if (!results_ || input_.in_stubs(unit_->begin)) return;
  for (const code::Obstacle& obstacle : results_->obstacles()) {
    using Kind = code::Obstacle::Kind;
    const std::uint64_t at = obstacle.address;
    switch (obstacle.kind) {
    case Kind::indirect_jump: note(Id::K301, at, at, "the targets of this jump are unknown"); break;
    case Kind::undecodable: note(Id::K304, at, at, "not a valid instruction"); break;
    case Kind::sp_lost: note(Id::K303, at, at, "SP is unknown from here on"); break;
    case Kind::call_falls_through: note(Id::K306, at, at, "assumed not to return"); break;
    case Kind::limit: note(Id::K302, at, at, "the function is too large to be analysed completely"); break;
    case Kind::runs_off: break;
    }
  }
}

void CodeChecker::add_gaps() {
  if (!results_ || input_.in_stubs(unit_->begin)) return;
  for (const code::Gap& gap : results_->gaps()) {
    auto row = std::ranges::partition_point(rows_, [&](const PlacedRow& r) { return r.end <= gap.begin; });
    const bool described = row != rows_.end() && row->begin < gap.end;
    for (; row != rows_.end() && row->begin < gap.end; ++row) {
      const bool reached = verdicts_.of(row->part, row->function) != Verdict::none;
      verdicts_.add(row->part, row->function, reached ? Verdict::undecided : Verdict::unreached);
    }
    if (described) note(Id::K302, gap.begin, gap.end, "no analysed path reaches this code");
  }
}

} // namespace sframe::verify
