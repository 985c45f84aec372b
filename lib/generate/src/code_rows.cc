// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// make() runs the analysis and visits the reached instructions by address. A certain one extends a range with
// its row or is left out with a reason; a guessed one is left out, but its jumps are recorded. Then landing
// pads are taken out (withhold_landing_pads(): passes over the blocks, the last one first, until nothing
// changes, at most max_passes), gaps are added, and rows are extended over padding. All of it is linear in
// the instructions, but for the sort of what is left out. Nothing is kept if the budget ran out: states that
// were not joined with all others prove nothing.

#include "code_rows.h"

#include "sframe/address.h"
#include "sframe/base/budget.h"
#include "sframe/code/row_check.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

namespace sframe::generate {

namespace {

/// Searches for blocks that lead only to others. Each finds all in front of them, unless there are loops.
constexpr int max_passes = 16;

/// True if SP or FP is at a known distance from the CFA.
bool has_cfa(const code::State& state, const AbiTraits& abi) {
  return state.reg(abi.sp).base == code::Value::Base::cfa || state.reg(abi.fp).base == code::Value::Base::cfa;
}

Reason why_unknown(const code::State& state, const AbiTraits& abi) {
  if (!has_cfa(state, abi)) return code_cfa_unknown;
  return code::is_signed_with_address(state, abi) ? code_signed_with_address : code_ra_unknown;
}

/// True if SP is in the caller's frame: only data that is taken for code releases more than its own.
bool is_above_frame(const code::State& state, const AbiTraits& abi) {
  const code::Value sp = state.reg(abi.sp);
  return sp.base == code::Value::Base::cfa && sp.offset > 0;
}

/// True if `range` continues `last`, which then ends where it ends.
bool extend(CodeRows::Range& last, const CodeRows::Range& range) {
  if (last.end != range.begin || last.code != range.code) return false;
  last.end = range.end;
  return true;
}

std::optional<std::int32_t> fp_of(const code::State& state, const AbiTraits& abi) {
  const code::Value fp = state.reg(abi.fp);
  return fp.base == code::Value::Base::cfa ? std::optional(fp.offset) : std::nullopt;
}

} // namespace

std::size_t RowPool::Hash::operator()(const CodeRow& code) const {
  SecretHash hash;
  for (const Rule& rule : {code.row.cfa, code.row.ra, code.row.fp, code.by_record.value_or(Rule())}) {
    hash.add(std::uint64_t(rule.kind) << 16 | rule.base);
    hash.add(static_cast<std::uint64_t>(std::int64_t{rule.offset}));
  }
  hash.add(static_cast<std::uint64_t>(std::int64_t{code.fp.value_or(0)}));
  hash.add(std::uint64_t{code.fp.has_value()} << 1 | std::uint64_t{code.keeps_fp});
  return static_cast<std::size_t>(hash.value());
}

const CodeRow* RowPool::find(const CodeRow& row) {
  const std::lock_guard lock(mutex_);
  return &*rows_.insert(row).first;
}

void CodeRows::shrink() {
  const auto shrink = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  shrink(ranges, left_out, jumps, calls, guessed_calls, after_indirect_calls, links, guessed_jumps,
         guessed_ends, without_fp, executed, unknown, addresses);
}

/// Mostly that of the instruction before.
const CodeRow* CodeRowMaker::pooled(const CodeRow& row, const CodeRow*& last) {
  if (!last || *last != row) last = pool_.find(row);
  return last;
}

/// Before a visit of the results.
void CodeRowMaker::start() {
  rows_ = {};
  end_ = function_.start;
  guessed_ = {};
  blocks_.clear();
  passes_on_ = false;
  changed_ = row_parts_ = ~std::uint64_t{0};
  calls_need_exception_ = guess_returns_ = false;
  in_first_run_ = true;
}

CodeRows CodeRowMaker::make(const code::Function& function) {
  proof_.forget();
  function_ = function;
  start();
  const auto is_used_up = [&] {
    return function.budget && function.budget->is_used_up(Resource::code_steps);
  };
  const auto leave_out_all = [&] {
    rows_ = {};
    leave_out(function.start, range_end(function.start, function.bytes.size()), code_unreached);
    return std::move(rows_);
  };
  if (is_used_up()) return leave_out_all(); // the analysis would clear its tables first
  const code::Results& results = analyzer_.run(function);
  results.visit([&](const code::Reached& at) { add(at, results); });
  if (guess_returns_ && proof_.find(function, results)) {
    start();
    results.visit([&](const code::Reached& at) { add(at, results); });
    rows_.returns |= proof_.confirms_entry();
  }
  rows_.executed = CompactList<std::uint64_t>(results.executed());
  rows_.tables_lead_to = results.tables_lead_to();
  if (calls_need_exception_) withhold_landing_pads();
  for (const code::Gap& gap : results.gaps()) leave_out(gap.begin, gap.end, code_unreached);
  if (std::ranges::any_of(rows_.ranges, [](const CodeRows::Range& range) { return range.row().ra_signed; }))
    find_key(function);
  // States that were not joined with all others prove nothing.
  if (is_used_up()) return leave_out_all();
  std::ranges::sort(rows_.addresses);
  rows_.addresses.truncate(rows_.addresses.size() - std::ranges::unique(rows_.addresses).size());
  std::ranges::sort(rows_.left_out, {}, &LeftOut::start);
  extend_over_padding();
  return std::move(rows_);
}

void CodeRowMaker::add(const code::Reached& at, const code::Results& results) {
  using code::Exit;
  using code::Flow;
  const std::uint64_t end = at.instruction.address + at.instruction.length;
  changed_ |= at.changed;
  // Instructions may overlap, as where a jump skips a prefix. Data that is taken for code does it at random.
  const std::uint64_t begin = std::max(at.instruction.address, end_);
  if (end <= begin) return;
  note_switch(at, begin);
  end_ = end;
  const std::optional<FrameRow> shown =
      at.certainty == code::Certainty::certain ? std::nullopt : shown_row(at);
  const std::optional<FrameRow>& row = shown ? shown : row_before(at);
  const auto jump_to = [&](std::uint64_t target) {
    CodeRows::Jump jump{.from = begin, .target = target};
    if (shown)
      jump.code = pooled({.row = *shown, .keeps_fp = shown->fp == Rule::same()}, last_of_jumps_);
    else if (row)
      jump.code = pooled({.row = *row,
                          .fp = fp_of(at.state(), abi_),
                          .keeps_fp = at.state().reg(abi_.fp) == code::Value::entry(abi_.fp)},
                         last_of_jumps_);
    return jump;
  };
  const auto jump = [&] { return jump_to(at.instruction.target); };
  const bool jumps = at.instruction.flow == Flow::jump || at.instruction.flow == Flow::branch;
  if (at.certainty != code::Certainty::certain) {
    guess_returns_ |= at.exit == Exit::returns;
    if ((at.instruction.flow == Flow::call && !at.pushes_and_jumps) || at.exit == Exit::tail_call)
      rows_.guessed_calls.push_back({at.instruction.target, end});
    if (jumps) add_link(jump());
    note_guessed(at, begin, end);
    if (!shown) return leave_out(begin, end, code_guessed);
  }
  in_first_run_ &= begin == function_.start || (begin == rows_.first_run_end && !at.block_start);
  if (in_first_run_) note_start(at, begin);
  if (in_first_run_) rows_.first_run_end = end;
  in_first_run_ &= at.instruction.flow == Flow::next;
  if (at.is_unknown) rows_.unknown.push_back(at.instruction.address);
  rows_.has_unknown |= at.is_unknown;
  add_addresses(at);
  const auto bytes = function_.bytes.subspan(at.instruction.address - function_.start, at.instruction.length);
  rows_.has_data |= std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
  add_to_block(at, begin, end, results.never_returns(at.instruction.address));
  if (at.instruction.flow == Flow::branch && at.exit == Exit::none && !code::is_entry_like(at.state(), abi_))
    add_link(jump());
  rows_.returns |= at.exit == Exit::returns && !shown;
  rows_.loses_fp |= at.exit == Exit::returns && at.state().reg(abi_.fp) != code::Value::entry(abi_.fp);
  rows_.refuted |= at.exit == Exit::returns_wrong || is_above_frame(at.state(), abi_);
  const bool returns_elsewhere = at.instruction.flow == Flow::ret && at.instruction.target != 0;
  // Not those of guessed code: where another path shows the row, a new thread may take this one.
  const std::uint64_t out =
      at.exit == Exit::tail_call || returns_elsewhere ? at.instruction.target : known_target(at);
  rows_.leaves_somewhere |=
      (at.exit == Exit::indirect_tail_call && out == 0) || at.exit == Exit::indirect_unknown;
  const bool jumps_out = out != 0 && !shown;
  if (jumps_out) rows_.jumps.push_back(jump_to(out));
  const bool goes_on = at.instruction.flow == Flow::next || at.instruction.flow == Flow::branch;
  const bool runs_on = goes_on && end - function_.start == function_.bytes.size() && !shown;
  if (runs_on) rows_.runs_on = std::make_unique<CodeRows::Jump>(jump_to(end));
  rows_.surely_runs_on |= runs_on && !at.instruction.is_nop && !at.instruction.marks_start;
  if (!row || row->fp.kind == Rule::Kind::undefined) {
    if (jumps_out) rows_.without_fp.push_back(out);
    if (runs_on) rows_.without_fp.push_back(end);
  }
  if (at.instruction.flow == Flow::call && !at.pushes_and_jumps)
    rows_.calls.push_back({at.instruction.target, end});
  if (at.instruction.flow == Flow::indirect_call) rows_.after_indirect_calls.push_back(end);
  if (!row) return leave_out(begin, end, why_unknown(at.state(), abi_));
  if (row->fp.kind == Rule::Kind::undefined) return leave_out(begin, end, code_fp_unknown);
  if (shown) return add_range({offset_of(begin), offset_of(end), pooled({.row = *shown}, last_of_ranges_)});
  if (!row_code_)
    row_code_ =
        pooled({.row = *row, .by_record = code::cfa_by_frame_record(at.state(), abi_)}, last_of_ranges_);
  add_range({offset_of(begin), offset_of(end), row_code_});
}

/// The row at a guessed instruction, if the way that the code returns shows it.
std::optional<FrameRow> CodeRowMaker::shown_row(const code::Reached& at) {
  std::optional<FrameRow> row = proof_.row_at(at.instruction.address);
  const std::optional<FrameRow>& guessed = row_before(at);
  if (!row || !guessed) return std::nullopt;
  row->ra_signed = guessed->ra_signed;
  return row;
}

/// Most instructions change nothing that it depends on.
const std::optional<FrameRow>& CodeRowMaker::row_before(const code::Reached& at) {
  if ((changed_ & row_parts_) == 0) return row_;
  row_ = code::row_of(at.state(), abi_, &row_parts_);
  // After a tail call the saved registers are still where they were, but not if others call the function.
  if (code::is_entry_like(at.state(), abi_)) row_ = abi_.entry_row();
  row_code_ = nullptr;
  changed_ = 0;
  return row_;
}

/// Where an indirect jump out of the function leads to, as musl's start-up code does it; 0 if that is not
/// known.
std::uint64_t CodeRowMaker::known_target(const code::Reached& at) const {
  const std::uint8_t reg = at.instruction.jump_register;
  if (at.exit != code::Exit::indirect_tail_call || at.instruction.flow != code::Flow::indirect_jump ||
      reg == code::Effect::none)
    return 0;
  const code::Value& value = at.state().reg(reg);
  return code::is_number(value) ? code::number_of(value, function_.start) : 0;
}

void CodeRowMaker::add_link(const CodeRows::Jump& jump) {
  if (jump.target - function_.start < function_.bytes.size())
    rows_.links.push_back({offset_of(jump.from), offset_of(jump.target), jump.code});
  else
    rows_.guessed_jumps.push_back(jump);
}

/// `at`: an instruction of the first run.
void CodeRowMaker::note_start(const code::Reached& at, std::uint64_t begin) {
  if (begin == function_.start)
    rows_.starts_as_function = at.instruction.marks_start;
  else if (abi_.signs_return_addresses && begin - function_.start == code::machine(abi_).max_length)
    rows_.starts_as_function |= at.state().reg(abi_.ra).flag && !function_.entry.ra_signed;
}

/// Code that restores FP, and then sets SP to what is no place in the frame, has restored the registers of
/// another frame, which it switches to (__builtin_eh_return): from FP on, no row describes the caller.
void CodeRowMaker::note_switch(const code::Reached& at, std::uint64_t begin) {
  const bool follows = passes_on_ && begin == end_ && !at.block_start;
  passes_on_ = at.certainty == code::Certainty::certain && at.instruction.flow == code::Flow::next;
  if (!follows) fp_restored_.reset();
  if (!follows || (at.changed & (code::State::bit(abi_.fp) | code::State::bit(abi_.sp))) == 0) return;
  if ((at.changed & code::State::bit(abi_.fp)) != 0) {
    const bool is_callers = at.state().reg(abi_.fp) == code::Value::entry(abi_.fp);
    fp_restored_ = is_callers ? std::optional(begin) : std::nullopt;
  }
  const code::Value sp = at.state().reg(abi_.sp);
  if (!fp_restored_ || sp.base != code::Value::Base::symbol || sp.flag) return; // a flag: alloca, alignment
  CompactList<CodeRows::Range>& ranges = rows_.ranges;
  const std::uint32_t restored = offset_of(*fp_restored_);
  while (!ranges.empty() && ranges.back().end > restored) {
    CodeRows::Range& last = ranges.back();
    leave_out(function_.start + std::max(last.begin, restored), function_.start + last.end, code_fp_unknown);
    last.end = restored;
    if (last.begin < last.end) break;
    ranges.pop_back();
  }
  fp_restored_.reset();
}

/// What the instruction before has put into registers; at the start of a block, what others have.
void CodeRowMaker::add_addresses(const code::Reached& at) {
  constexpr std::uint64_t page = 4096; // its start is no function: AArch64 adds the rest later
  for (std::uint64_t changed = at.changed & ~code::State::words_bit; changed != 0; changed &= changed - 1) {
    const code::Value& value = at.state().reg(static_cast<std::uint16_t>(std::countr_zero(changed)));
    const std::uint64_t number = code::is_number(value) ? code::number_of(value, function_.start) : 0;
    if (number > page && number % page != 0) rows_.addresses.push_back(number);
  }
}

void CodeRowMaker::note_guessed(const code::Reached& at, std::uint64_t begin, std::uint64_t end) {
  using code::Flow;
  if (guessed_.end() != begin) guessed_ = {begin, 0};
  guessed_.size = end - guessed_.start;
  const Flow flow = at.instruction.flow;
  const bool leaves = flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ret;
  if (leaves && code::is_entry_like(at.state(), abi_)) rows_.guessed_ends.push_back(guessed_);
  if (leaves || flow == Flow::stop) guessed_ = {};
}

void CodeRowMaker::add_to_block(const code::Reached& at, std::uint64_t begin, std::uint64_t end, bool ends) {
  using code::Flow;
  const bool follows = !blocks_.empty() && blocks_.back().end == begin && !at.block_start;
  if (!follows || blocks_.back().jumps || blocks_.back().leaves || blocks_.back().needs_exception)
    blocks_.push_back({.begin = begin});
  Block& block = blocks_.back();
  block.end = end;
  const Flow flow = at.instruction.flow;
  const bool jumps = flow == Flow::jump || flow == Flow::branch;
  block.jumps = jumps && at.exit == code::Exit::none;
  block.target = at.instruction.target;
  block.falls = flow != Flow::jump && !ends;
  block.leaves = at.exit != code::Exit::none ||
                 (!jumps && flow != Flow::next && flow != Flow::call && flow != Flow::indirect_call);
  block.needs_exception = flow == Flow::call && function_.environment->needs_exception(at.instruction.target);
  calls_need_exception_ |= block.needs_exception;
}

/// Leaves out the blocks that need an exception in flight, and those that lead only to such.
void CodeRowMaker::withhold_landing_pads() {
  const auto leads_there = [&](std::uint64_t address) {
    const Block* const block = last_not_above(blocks_, address, &Block::begin);
    return block && block->begin == address && block->needs_exception;
  };
  bool changed = true;
  for (int pass = 0; changed && pass < max_passes; ++pass) {
    changed = false;
    for (Block& block : blocks_ | std::views::reverse) {
      if (block.needs_exception || block.leaves || (!block.jumps && !block.falls)) continue;
      block.needs_exception =
          (!block.jumps || leads_there(block.target)) && (!block.falls || leads_there(block.end));
      changed |= block.needs_exception;
    }
  }
  const CompactList<CodeRows::Range> ranges = std::exchange(rows_.ranges, {});
  auto block = blocks_.begin();
  for (const CodeRows::Range& range : ranges) {
    const std::uint64_t last = function_.start + range.end;
    for (std::uint64_t at = function_.start + range.begin; at < last;) {
      while (block->end <= at) ++block;
      const std::uint64_t end = std::min(block->end, last);
      if (block->needs_exception)
        leave_out(at, end, code_landing_pad);
      else
        add_range({offset_of(at), offset_of(end), range.code});
      at = end;
    }
  }
}

void CodeRowMaker::add_range(const CodeRows::Range& range) {
  CompactList<CodeRows::Range>& all = rows_.ranges;
  if (all.empty() || !extend(all.back(), range)) all.push_back(range);
}

void CodeRowMaker::leave_out(std::uint64_t begin, std::uint64_t end, Reason reason) {
  auto& all = rows_.left_out;
  if (!all.empty() && all.back().start + all.back().size == begin && all.back().reason == reason)
    all.back().size += end - begin;
  else
    all.push_back({begin, end - begin, reason});
}

/// The key that the function signs with. A function has one; rows of a function with two are not known.
void CodeRowMaker::find_key(const code::Function& function) {
  constexpr std::uint64_t bytes_per_step = 4;
  const std::uint64_t steps = function.bytes.size() / bytes_per_step;
  if (function.budget && !function.budget->take(Resource::code_steps, steps)) return;
  const auto decoder = code::make_decoder(abi_);
  std::vector<code::Effect> effects;
  code::Instruction instruction;
  bool a_key = false;
  for (std::size_t at = 0; at < function.bytes.size(); at += instruction.length) {
    effects.clear();
    if (!decoder->decode(function.bytes.subspan(at), function.start + at, instruction, effects) &&
        instruction.length == 0)
      break;
    for (const code::Effect& effect : effects)
      if (effect.kind == code::Effect::Kind::sign && effect.reg == abi_.ra)
        (effect.index == 0 ? a_key : rows_.b_key) = true;
  }
  if (!a_key || !rows_.b_key) return;
  for (const CodeRows::Range& range : rows_.ranges)
    leave_out(function.start + range.begin, function.start + range.end, code_ra_unknown);
  rows_.ranges = {};
}

/// Padding between instructions with rows keeps the row of those before it, so that it divides no function.
/// In front of other code it has none: the signal trampoline of a C library is looked up by the address
/// before it, as if it had been called.
void CodeRowMaker::extend_over_padding() {
  // In place: ranges only become fewer, and a second list of them takes more memory than the analysis.
  CompactList<CodeRows::Range>& ranges = rows_.ranges;
  const LeftOut* left_out = rows_.left_out.begin();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    CodeRows::Range range = ranges[i];
    if (i + 1 < ranges.size()) {
      const auto is_before = [&](std::uint32_t offset) { return left_out->start < function_.start + offset; };
      while (left_out != rows_.left_out.end() && is_before(range.end)) ++left_out;
      if (left_out == rows_.left_out.end() || !is_before(ranges[i + 1].begin))
        range.end = ranges[i + 1].begin;
    }
    if (kept == 0 || !extend(ranges[kept - 1], range)) ranges[kept++] = range;
  }
  ranges.truncate(kept);
}

} // namespace sframe::generate
