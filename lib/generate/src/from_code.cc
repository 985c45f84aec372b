// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CodeFunctions finds and analyses; Proof decides which functions are accepted; Writer adds their rows. Proof
// is a graph search from what is certain: run() has the order of its steps. Acceptance spreads along calls,
// and along jumps with an equal row, by a work list; a function is accepted at most once for each entry row
// that is tried, of which there are at most three, so the search is linear in calls and jumps, with a binary
// search for each target. Then six checks take acceptance back; none gives it, so their order matters only
// for what is reported. Where two functions claim an address, Claims has the one that claimed it first.

#include "from_code.h"

#include "add_rows.h"
#include "code_functions.h"
#include "sframe/code/call_end.h"
#include "sframe/code/row_check.h"
#include "sframe/code/signal_return.h"
#include "signal_returns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace sframe::generate {

namespace {

/// Sweeps over all functions in search of those that follow accepted ones.
constexpr int max_sweeps = 16;

constexpr Reason entry_unproven = {"entry-unproven", "the frame at the entry of this code is unknown"};
constexpr Reason entry_refuted = {"entry-refuted",
                                  "the code returns with a different stack pointer than at its entry"};
constexpr Reason data = {"data", "an instruction consists of zeros: data, not code"};
constexpr Reason ambiguous = {"ambiguous", "this code is entered with different frames"};

enum class State : std::uint8_t {
  unproven,
  accepted,
  refuted,
  ambiguous,
  signal_return, ///< no function: see signal_returns.h
};

/// Which function has the rows at an address, by its index.
class Claims {
public:
  struct Claim { // small: there may be one for each instruction
    std::uint64_t end = 0;
    std::size_t owner = 0;
  };

  /// Claims the function's addresses that no other function has claimed.
  void add(std::size_t index, const CodeFunction& function);
  /// Claims the unclaimed addresses of [begin, claim.end). Calls visitor(AddressRange) for each part.
  template <class Visitor> void add(std::uint64_t begin, const Claim& claim, Visitor visitor);
  /// Calls visitor(begin, end, owner) for each part of the range that is claimed.
  template <class Visitor> void each_in(const AddressRange& range, Visitor visitor) const;

private:
  using Map = std::map<std::uint64_t, Claim>;
  Map::const_iterator first_from(std::uint64_t address) const;

  Map claims_; ///< by the first address
};

/// The first claim that ends after `address`. Most claims are asked for and made in order.
Claims::Map::const_iterator Claims::first_from(std::uint64_t address) const {
  auto at =
      claims_.empty() || claims_.rbegin()->first <= address ? claims_.end() : claims_.upper_bound(address);
  if (at != claims_.begin() && std::prev(at)->second.end > address) --at;
  return at;
}

template <class Visitor> void Claims::each_in(const AddressRange& range, Visitor visitor) const {
  for (auto at = first_from(range.start); at != claims_.end() && at->first < range.end(); ++at)
    visitor(std::max(at->first, range.start), std::min(at->second.end, range.end()), at->second.owner);
}

template <class Visitor> void Claims::add(std::uint64_t begin, const Claim& claim, Visitor visitor) {
  for (auto next = first_from(begin);; ++next) {
    const bool is_last = next == claims_.end() || next->first >= claim.end;
    const std::uint64_t end = is_last ? claim.end : next->first;
    if (begin < end) {
      claims_.emplace_hint(next, begin, claim)->second.end = end;
      visitor(AddressRange{begin, end - begin});
    }
    if (is_last) return;
    begin = next->second.end;
  }
}

void Claims::add(std::size_t index, const CodeFunction& function) {
  const CompactList<CodeRows::Range>& ranges = function.rows.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::uint64_t begin = function.start + ranges[i].begin;
    while (i + 1 < ranges.size() && ranges[i + 1].begin == ranges[i].end) ++i;
    add(begin, {function.start + ranges[i].end, index}, [](const AddressRange&) {});
  }
}

/// True if all that is reached is understood, or only guessed, and no jump leads to unknown places.
bool makes_sense(const CodeFunction& function) {
  return !function.rows.leaves_somewhere &&
         std::ranges::all_of(function.rows.left_out, [](const LeftOut& range) {
           return is_unreached(range) || range.reason == code_guessed;
         });
}

bool has_frame(const CodeFunction& function) {
  return std::ranges::any_of(function.rows.ranges, [&](const CodeRows::Range& range) {
    return range.row().cfa != function.entry.cfa;
  });
}

/// The end of the code that is reached; its start if none is.
std::uint64_t end_of(const CodeFunction& function) {
  const CodeRows& rows = function.rows;
  std::uint64_t end = function.start + (rows.ranges.empty() ? 0 : rows.ranges.back().end);
  for (const LeftOut& range : rows.left_out)
    if (!is_unreached(range)) end = std::max(end, range_end(range.start, range.size));
  return end;
}

/// True if all of it is reached, from its start to its end.
bool is_whole(const CodeFunction& function) {
  std::uint64_t size = 0;
  for (const CodeRows::Range& range : function.rows.ranges) size += range.end - range.begin;
  for (const LeftOut& range : function.rows.left_out)
    if (!is_unreached(range)) size += range.size;
  return size == end_of(function) - function.start;
}

/// True for a function that is no longer than a word of data, and makes no frame.
bool may_be_word(const CodeFunction& function) {
  constexpr std::uint64_t word_size = 8;
  return end_of(function) - function.start <= word_size && !has_frame(function);
}

/// FP has no say: both rows may name places with the same value.
bool fits(const FrameRow& row, const FrameRow& entry) {
  return row.cfa == entry.cfa && row.ra == entry.ra && row.ra_signed == entry.ra_signed;
}

/// Decides which functions are accepted.
class Proof {
public:
  /// All references must outlive the object.
  Proof(const CfiInput& input, CodeFunctions& analysis, CodeFunctionList& functions,
        std::span<const SignalReturn> signal_returns)
      : input_(input), abi_(*input.abi), analysis_(analysis), functions_(functions),
        states_(functions.size(), State::unproven), padding_(*input.abi) {
    for (const CodeFunction& function : functions) starts_.push_back(function.start);
    std::size_t index = 0;
    for (const SignalReturn& one : signal_returns)
      if (at(one.start, index)) states_[index] = State::signal_return;
    std::vector<AddressRange> stubs;
    for (const Plt& plt : input.plts) stubs.push_back(plt.range);
    stubs_ = AddressSet(std::move(stubs));
  }

  void run();
  /// After run(): of each function.
  const std::vector<State>& states() const { return states_; }

private:
  /// How control enters a function from accepted code, apart from calls.
  struct Entered {
    explicit Entered(const CodeRow& before) : row(before.row), fp(before.fp), keeps_fp(before.keeps_fp) {}

    /// Adds the row before a jump that enters it. Rows may name different places of the caller's FP: the word
    /// that has been saved is another one, or none, on another path, but FP itself is right on all.
    void add(const CodeRow& before) {
      keeps_fp &= before.keeps_fp;
      if (fp != before.fp) fp.reset();
      if (row.same_rules(before.row)) return;
      if (keeps_fp) row.fp = Rule::same();
      FrameRow other = before.row;
      if (keeps_fp) other.fp = Rule::same();
      several |= !row.same_rules(other);
    }

    FrameRow row;
    std::optional<std::int32_t> fp; ///< CodeRow::fp, if it is the same of all
    bool keeps_fp = false;          ///< CodeRow::keeps_fp of all
    bool several = false;           ///< with different rows
  };

  CodeFunction* at(std::uint64_t start, std::size_t& index);
  bool in_stubs(std::uint64_t address) const;
  bool stands_alone(const CodeFunction& function);
  bool is_plausible(const CodeFunction& function);
  bool is_continued(const CodeFunction& function) const;
  bool is_understood(const CodeFunction& function) const;
  bool is_connected(const CodeFunction& function, std::uint64_t last_end);
  bool is_followed(std::size_t index);
  void accept(std::size_t index);
  void spread();
  void accept_what_jumps();
  void accept_after_zeros();
  void accept_what_leaves();
  void accept_jumpers(std::size_t target);
  void add_doubtful_entries();
  bool enter_by_jumps();
  void accept_entry_point();
  void refute_contradictions();
  void refute_unconnected();
  void refute_rivals();
  void refute_second_entries();
  void refute_first_runs();
  const CodeRows::Range* range_of(std::uint64_t address, std::span<const std::size_t> accepted,
                                  std::size_t& owner) const;

  const CfiInput& input_;
  const AbiTraits& abi_;
  CodeFunctions& analysis_;
  CodeFunctionList& functions_;
  std::vector<std::uint64_t> starts_; ///< of functions_
  std::vector<State> states_;
  AddressSet stubs_;
  code::CallEnds padding_;
  std::vector<std::size_t> pending_; ///< accepted, but not spread yet
  /// During accept_what_jumps(): functions that are jumped to, and those that jump to them.
  std::vector<std::pair<std::size_t, std::size_t>> jumpers_;
  std::map<std::uint64_t, Entered> entered_; ///< starts of functions that accepted ones jump to
};

CodeFunction* Proof::at(std::uint64_t start, std::size_t& index) {
  const auto found = std::ranges::lower_bound(starts_, start);
  if (found == starts_.end() || *found != start) return nullptr;
  index = static_cast<std::size_t>(found - starts_.begin());
  return &functions_[index];
}

bool Proof::in_stubs(std::uint64_t address) const {
  return stubs_.contains(address);
}

/// True if the function starts where compilers start one, after a no-operation, and returns at the height of
/// that: no matter what is before the padding, it is no middle of an instruction, nor of a function with a
/// frame. It must also make a frame: Haskell programs have words of data at such places, which decode to a
/// return, or run into one in the code after them.
bool Proof::stands_alone(const CodeFunction& function) {
  const AddressRange* const code = range_at(input_.code, function.start);
  return code && function.rows.returns && analysis_.is_aligned(function.start) && has_frame(function) &&
         ends_padding(input_, code->start, function.start, padding_);
}

/// True for code whose address other code puts into a register, to have it jumped to when something else is
/// done: no matter how that gets there, the code returns as from the frame that was assumed, perhaps after
/// more such jumps. What a stub leads to may never return.
bool Proof::is_continued(const CodeFunction& function) const {
  const bool may_end = std::ranges::any_of(function.rows.jumps,
                                           [&](const CodeRows::Jump& jump) { return in_stubs(jump.target); });
  return function.has_address_taken && !function.rows.loses_fp && (function.rows.returns || !may_end);
}

/// Where only a function's place speaks for it, the bytes may be data or the middle of an instruction: it
/// must follow other code, be aligned or the start of a section, all that is reached must make sense, and no
/// jump may lead to unknown places: the middle of a function with a jump table looks so. What is after zeros
/// may be data, whatever is before them: see accept_after_zeros().
bool Proof::is_plausible(const CodeFunction& function) {
  if (function.named) return true;
  if (function.after_zeros) return false;
  const AddressRange* const code = range_at(input_.code, function.start);
  const bool is_at_start = code && code->start == function.start;
  const bool is_likely = is_at_start || analysis_.is_aligned(function.start) || is_continued(function);
  return ((function.follows && is_likely) || stands_alone(function)) && makes_sense(function);
}

/// True for a function that may follow another one: it is no data, and starts where compilers start one.
bool Proof::is_understood(const CodeFunction& function) const {
  const CodeRows& rows = function.rows;
  return analysis_.is_aligned(function.start) && !rows.refuted && !rows.has_data && !rows.has_unknown &&
         !rows.ranges.empty() && makes_sense(function);
}

/// True if nothing but padding is between `last_end`, or the start of the section, and the function.
bool Proof::is_connected(const CodeFunction& function, std::uint64_t last_end) {
  const AddressRange* const code = range_at(input_.code, function.start);
  if (last_end >= function.start || !code) return true;
  const std::uint64_t begin = std::max(code->start, last_end), size = function.start - begin;
  const auto between = size <= max_padding_between ? input_.image->read(begin, size) : std::nullopt;
  return size == 0 || (between && padding_.is_padding(*between, begin, nullptr));
}

/// True if another function follows, perhaps after padding. It may be one that nothing confirms.
bool Proof::is_followed(std::size_t index) {
  const std::uint64_t end = end_of(functions_[index]);
  const auto after = std::ranges::lower_bound(starts_, end);
  if (after == starts_.end()) return false;
  const auto next = static_cast<std::size_t>(after - starts_.begin());
  const CodeFunction& function = functions_[next];
  return is_connected(function, end) && (function.named || states_[next] == State::accepted ||
                                         (is_understood(function) && !may_be_word(function)));
}

void Proof::accept(std::size_t index) {
  if (states_[index] != State::unproven || functions_[index].rows.refuted) return;
  states_[index] = State::accepted;
  pending_.push_back(index);
}

/// Accepts what accepted functions call, or jump to with its row.
void Proof::spread() {
  while (!pending_.empty()) {
    const std::size_t index = pending_.back();
    const CodeFunction& function = functions_[index];
    pending_.pop_back();
    accept_jumpers(index);
    std::size_t target = 0;
    for (const CodeRows::Call& call : function.rows.calls)
      if (CodeFunction* const callee = at(call.target, target);
          callee && fits(callee->entry, abi_.entry_row())) {
        callee->named |= function.named;
        accept(target);
      }
    for (const CodeRows::Jump& jump : function.rows.jumps) {
      const CodeFunction* const entered = at(jump.target, target);
      if (!entered || !jump.code) continue;
      if (fits(*jump.row(), entered->entry)) {
        accept(target);
        continue;
      }
      entered_.try_emplace(jump.target, *jump.code).first->second.add(*jump.code);
    }
  }
}

/// Jumps that perhaps never happen count if they would enter with another row.
void Proof::add_doubtful_entries() {
  const auto add = [&](std::uint64_t target, const CodeRow* before) {
    const auto known = before ? entered_.find(target) : entered_.end();
    if (known != entered_.end()) known->second.add(*before);
  };
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (states_[i] == State::refuted) continue;
    const CodeFunction& function = functions_[i];
    for (const auto* const jumps : {&function.rows.jumps, &function.rows.guessed_jumps})
      for (const CodeRows::Jump& jump : *jumps) add(jump.target, jump.code);
    for (const CodeRows::Link& link : function.rows.links) add(function.start + link.target, link.code);
  }
}

/// Cold parts: entered by jumps alone, always with the same row. What starts as only a function does is none:
/// a jump that is never taken leads to what follows its own function.
bool Proof::enter_by_jumps() {
  add_doubtful_entries();
  bool any = false;
  for (const auto& [start, entered] : entered_) {
    std::size_t index = 0;
    const CodeFunction* const function = at(start, index);
    if (entered.several || states_[index] == State::accepted ||
        entered.row.fp.kind == Rule::Kind::undefined || !fits(function->entry, abi_.entry_row()) ||
        function->rows.starts_as_function)
      continue;
    functions_[index] = analysis_.again(*function, entered.row, entered.fp);
    states_[index] = State::unproven;
    accept(index);
    any = true;
    if (const auto& next = functions_[index].rows.runs_on; next && next->code) {
      const auto known = entered_.find(next->target);
      if (known != entered_.end()) known->second.add(*next->code);
    }
  }
  return any;
}

/// A program's entry point has no caller.
void Proof::accept_entry_point() {
  const auto interpreter = std::ranges::find(input_.image->segments(), elf::pt_interp, &elf::Segment::type);
  if (input_.image->type() != elf::et_exec && interpreter == input_.image->segments().end()) return;
  std::size_t index = 0;
  CodeFunction* const function = at(input_.image->entry(), index);
  if (!function || states_[index] == State::accepted || function->rows.returns) return;
  static constexpr CodeRow outermost{FrameRow::outermost(0), std::nullopt};
  std::vector<CodeRows::Range> ranges;
  for (const CodeRows::Range& range : function->rows.ranges)
    ranges.push_back({range.begin, range.end, &outermost});
  // As most do first, it has set FP to 0, and then aligned SP.
  CompactList<LeftOut>& left_out = function->rows.left_out;
  const auto rest = std::ranges::remove_if(left_out, [&](const LeftOut& range) {
    if (is_unreached(range) || range.reason == code_guessed) return false;
    const auto begin = static_cast<std::uint32_t>(range.start - function->start);
    ranges.push_back({begin, begin + static_cast<std::uint32_t>(range.size), &outermost});
    return true;
  });
  left_out.truncate(left_out.size() - rest.size());
  std::ranges::sort(ranges, {}, &CodeRows::Range::begin);
  function->rows.ranges = CompactList<CodeRows::Range>(std::span<const CodeRows::Range>(ranges));
  function->entry = FrameRow::outermost(0);
  function->rows.refuted = false;
  states_[index] = State::unproven;
  accept(index);
}

/// The range with the address in the last of the accepted functions that start at or before it.
const CodeRows::Range* Proof::range_of(std::uint64_t address, std::span<const std::size_t> accepted,
                                       std::size_t& owner) const {
  const auto* const last =
      last_not_above(accepted, address, [&](std::size_t index) { return starts_[index]; });
  if (!last) return nullptr;
  owner = *last;
  const CodeFunction& function = functions_[owner];
  const std::uint64_t offset = address - function.start;
  const auto* const range = last_not_above(function.rows.ranges, offset, &CodeRows::Range::begin);
  return range && offset < range->end ? range : nullptr;
}

/// Calls and jumps of accepted functions into accepted functions whose row there is another one, also those
/// that run over padding into the next function: they do so after a call that does not return there, although
/// the callee returns elsewhere.
void Proof::refute_contradictions() {
  std::vector<std::size_t> wrong, accepted;
  for (std::size_t i = 0; i < functions_.size(); ++i)
    if (states_[i] == State::accepted) accepted.push_back(i);
  const auto is_padding = [&](const CodeRows::Jump& jump) {
    const auto bytes = input_.image->read(jump.from, jump.target - jump.from);
    return bytes && padding_.is_padding(*bytes, jump.from, nullptr);
  };
  for (const std::size_t i : accepted) {
    std::size_t owner = 0;
    const auto contradicts = [&](std::uint64_t target, const FrameRow& row) {
      const CodeRows::Range* const range = range_of(target, accepted, owner);
      return range && !range->row().is_outermost() && !fits(row, range->row()) &&
             (range->row().cfa.base != row.cfa.base || range->row().cfa != row.cfa);
    };
    for (const CodeRows::Call& call : functions_[i].rows.calls)
      if (contradicts(call.target, abi_.entry_row())) wrong.push_back(owner);
    for (const CodeRows::Jump& jump : functions_[i].rows.jumps)
      if (jump.code && contradicts(jump.target, *jump.row()))
        wrong.insert(wrong.end(), {owner, i});
      else if (jump.code && in_stubs(jump.target) && jump.row()->cfa != abi_.entry_row().cfa)
        wrong.push_back(i);
    const auto& runs_on = functions_[i].rows.runs_on;
    if (runs_on && runs_on->code && is_padding(*runs_on) && contradicts(runs_on->target, *runs_on->row()))
      wrong.push_back(i);
  }
  for (const std::size_t index : wrong) states_[index] = State::ambiguous;
}

/// What only its place speaks for must follow accepted code, or padding after it, or stand alone: else it may
/// start in the middle of an instruction.
void Proof::refute_unconnected() {
  std::uint64_t last_end = 0; // of accepted code
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const CodeFunction& function = functions_[i];
    if (states_[i] == State::signal_return) last_end = std::max(last_end, end_of(function));
    if (states_[i] != State::accepted) continue;
    if (!function.named && !is_connected(function, last_end) && !stands_alone(function)) {
      states_[i] = State::unproven;
      continue;
    }
    if (!function.rows.ranges.empty())
      last_end = std::max(last_end, function.at(function.rows.ranges.back()).end());
  }
}

/// If two functions have different rows for an address, neither is proven, but a symbol with a size proves
/// more than calls and jumps do: a call at the end of a function, which does not return there, leads into the
/// next one.
void Proof::refute_rivals() {
  Claims claims;
  std::vector<std::size_t> wrong;
  const auto has_same_rules = [&](std::size_t owner, std::uint64_t begin, std::uint64_t end,
                                  const FrameRow& row) {
    const CodeFunction& function = functions_[owner];
    const CompactList<CodeRows::Range>& ranges = function.rows.ranges;
    const auto* range = last_not_above(ranges, begin - function.start, &CodeRows::Range::begin);
    for (; range != ranges.end() && function.start + range->begin < end; ++range)
      if (!range->row().same_rules(row)) return false;
    return true;
  };
  for (const bool sized : {true, false})
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (functions_[i].sized != sized || states_[i] != State::accepted) continue;
      for (const CodeRows::Range& range : functions_[i].rows.ranges)
        claims.each_in(functions_[i].at(range),
                       [&](std::uint64_t begin, std::uint64_t end, std::size_t owner) {
                         if (has_same_rules(owner, begin, end, range.row())) return;
                         wrong.push_back(i);
                         if (functions_[owner].sized == sized) wrong.push_back(owner);
                       });
      claims.add(i, functions_[i]);
    }
  for (const std::size_t index : wrong) states_[index] = State::ambiguous;
}

/// Where code calls a function and other code runs or jumps into it after it has overwritten FP, the caller's
/// FP is lost for the one and not for the other. So it is where the function jumps to.
void Proof::refute_second_entries() {
  std::vector<std::size_t> wrong;
  std::vector<bool> seen(functions_.size(), false);
  const auto refute = [&](std::uint64_t address) {
    std::size_t target = 0;
    const CodeFunction* const function = at(address, target);
    if (!function || seen[target] || function->entry.fp.kind == Rule::Kind::undefined) return;
    seen[target] = true;
    if (states_[target] == State::accepted) states_[target] = State::ambiguous;
    wrong.push_back(target);
  };
  for (std::size_t i = 0; i < functions_.size(); ++i)
    if (states_[i] != State::refuted) std::ranges::for_each(functions_[i].rows.without_fp, refute);
  while (!wrong.empty()) {
    const CodeFunction& function = functions_[wrong.back()];
    wrong.pop_back();
    for (const CodeRows::Jump& jump : function.rows.jumps) refute(jump.target);
  }
}

/// Code that only jumps enter, perhaps never, as before __builtin_unreachable(): if it runs on, without a
/// jump or call of its own, to where code jumps that is not understood, as landing pads are not, then that
/// may be of another function, with another frame.
void Proof::refute_first_runs() {
  const auto refute = [&](const CodeRows::Jump& jump) {
    const auto after = entered_.lower_bound(jump.target);
    if (after == entered_.begin()) return;
    std::size_t index = 0;
    const CodeFunction* const entered = at(std::prev(after)->first, index);
    if (entered && states_[index] == State::accepted && jump.target < entered->rows.first_run_end &&
        !fits(entered->entry, abi_.entry_row()))
      states_[index] = State::ambiguous;
  };
  for (std::size_t i = 0; i < functions_.size(); ++i)
    if (states_[i] != State::accepted) std::ranges::for_each(functions_[i].rows.jumps, refute);
}

/// A function that only jumps to stubs, or to accepted functions, is at the height of its entry there.
void Proof::accept_what_jumps() {
  std::vector<std::size_t> proven; // by a jump to a stub
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (states_[i] != State::unproven || !is_plausible(functions_[i])) continue;
    for (const CodeRows::Jump& jump : functions_[i].rows.jumps) {
      std::size_t target = 0;
      if (!jump.code || !fits(*jump.row(), abi_.entry_row())) continue;
      const CodeFunction* const entered = at(jump.target, target);
      if (in_stubs(jump.target))
        proven.push_back(i);
      else if (entered && fits(entered->entry, abi_.entry_row()))
        jumpers_.emplace_back(target, i);
    }
  }
  std::ranges::sort(jumpers_);
  for (std::size_t i = 0; i < functions_.size(); ++i)
    if (states_[i] == State::accepted) accept_jumpers(i);
  for (const std::size_t i : proven) accept(i);
  spread();
  jumpers_.clear();
}

/// Zeros are padding in some compilers' code (Free Pascal), and data elsewhere. So a function after them must
/// follow accepted code, perhaps with others between that are all understood, and must itself be no data: it
/// makes a frame, releases it and returns, all of its bytes are reached, and another function follows.
void Proof::accept_after_zeros() {
  bool any = true;
  for (int sweep = 0; any && sweep < max_sweeps; ++sweep) {
    any = false;
    std::uint64_t last_end = 0; // of such code
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      CodeFunction& function = functions_[i];
      const bool is_accepted = states_[i] == State::accepted;
      if (!is_accepted || !function.named) {
        const bool is_next = last_end != 0 && function.start >= last_end &&
                             is_connected(function, last_end) && is_understood(function);
        if (is_next && function.rows.returns && has_frame(function) && is_whole(function) && is_followed(i)) {
          function.named = any = true; // and so is what it calls
          if (is_accepted) pending_.push_back(i);
          accept(i);
          spread();
        } else if (!is_next && (!is_accepted || !stands_alone(function))) {
          continue;
        }
      }
      last_end = std::max(last_end, end_of(function));
    }
  }
}

/// What a symbol gives a size, and ends with jumps alone, before which it releases the frame that it made, as
/// others do before they return.
void Proof::accept_what_leaves() {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const CodeFunction& function = functions_[i];
    const CodeRows& rows = function.rows;
    const auto is_last = [&](const CodeRows::Jump& jump) {
      return jump.code && fits(*jump.row(), abi_.entry_row());
    };
    if (states_[i] == State::unproven && function.sized && has_frame(function) && !rows.runs_on &&
        !rows.jumps.empty() && std::ranges::all_of(rows.jumps, is_last) && is_understood(function) &&
        is_whole(function) && is_plausible(function))
      accept(i);
  }
}

void Proof::accept_jumpers(std::size_t target) {
  for (auto jumper = std::ranges::lower_bound(jumpers_, std::pair(target, std::size_t{0}));
       jumper != jumpers_.end() && jumper->first == target; ++jumper)
    accept(jumper->second);
}

void Proof::run() {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const CodeRows& rows = functions_[i].rows;
    if (states_[i] == State::signal_return) continue;
    if (rows.refuted || rows.has_data)
      states_[i] = State::refuted;
    else if (rows.returns && is_plausible(functions_[i]))
      accept(i);
  }
  spread();
  accept_what_jumps();
  accept_entry_point();
  accept_what_leaves();
  spread();
  accept_after_zeros();
  if (enter_by_jumps()) spread();
  refute_contradictions();
  refute_unconnected();
  refute_rivals();
  refute_second_entries();
  refute_first_runs();
}

/// Adds the rows of accepted functions to a builder.
class Writer {
public:
  Writer(const CfiInput& input, const Options& options, Conversion& out)
      : input_(input), options_(options), out_(out) {}

  /// Adds code to which signal handlers return, before all claims: no function has its addresses.
  void add(const SignalReturn& code);
  /// Gives addresses to a function, apart from those that an earlier one has.
  void claim(std::size_t index, const CodeFunction& function) { claims_.add(index, function); }
  /// After all claims: adds what the function has claimed.
  void add(std::size_t index, const CodeFunction& function);
  /// Leaves out a function without claims.
  void leave_out(const CodeFunction& function, const Reason& reason);

private:
  static constexpr std::size_t no_owner = std::numeric_limits<std::size_t>::max();

  /// Adds [begin, end) of the range to the current run, which ends there or is empty.
  void extend_run(std::uint64_t begin, std::uint64_t end, const CodeRows::Range& range);
  void end_run(bool b_key);
  void add_rows_of(const Fde& fde);
  void leave_out_range(const AddressRange& range, Reason reason);
  void report(const AddressRange& range, Reason reason);
  void count();

  const CfiInput& input_;
  const Options& options_;
  Conversion& out_;
  Claims claims_;                             ///< those without an owner are in the report
  std::uint64_t run_begin_ = 0, run_end_ = 0; ///< of adjacent claims of the current function
  std::vector<FrameRow> rows_;                ///< of the run
  std::uint64_t covered_ = 0, left_ = 0;      ///< of the current function
};

void Writer::add(std::size_t index, const CodeFunction& function) {
  covered_ = left_ = 0;
  for (const CodeRows::Range& range : function.rows.ranges)
    claims_.each_in(function.at(range), [&](std::uint64_t begin, std::uint64_t end, std::size_t owner) {
      if (owner != index) return;
      if (run_end_ != begin) end_run(function.rows.b_key);
      extend_run(begin, end, range);
    });
  end_run(function.rows.b_key);
  for (const LeftOut& range : function.rows.left_out)
    leave_out_range({range.start, range.size}, range.reason);
  count();
}

void Writer::add(const SignalReturn& code) {
  covered_ = left_ = 0;
  const std::optional<FrameRow> row = code::signal_return_row(*input_.abi);
  if (row && traits(options_.version).has_signal) {
    claims_.add(code.range.start, {code.range.end(), no_owner}, [](const AddressRange&) {});
    rows_ = {*row};
    add_rows_of({.start = code.range.start,
                 .size = static_cast<std::uint32_t>(code.range.size),
                 .signal_frame = true});
  } else {
    leave_out_range(AddressRange::between(code.start, code.range.end()),
                    row ? reason(RefusalReason::signal_frame) : reason(cfi::Unrepresentable::sp_rule));
  }
  count();
}

void Writer::leave_out(const CodeFunction& function, const Reason& reason) {
  covered_ = left_ = 0;
  for (const CodeRows::Range& range : function.rows.ranges) leave_out_range(function.at(range), reason);
  for (const LeftOut& range : function.rows.left_out) leave_out_range({range.start, range.size}, reason);
  count();
}

void Writer::count() {
  if (covered_ + left_ == 0) return; // others have all of it
  Report::Functions& functions = out_.report.functions;
  ++functions.total;
  ++(covered_ == 0 ? functions.skipped : left_ == 0 ? functions.converted : functions.partial);
}

void Writer::extend_run(std::uint64_t begin, std::uint64_t end, const CodeRows::Range& range) {
  if (rows_.empty()) run_begin_ = begin;
  run_end_ = end;
  FrameRow row = range.row();
  if (range.code->by_record) row.cfa = *range.code->by_record;
  append_row(options_, rows_, row, begin - run_begin_);
}

void Writer::end_run(bool b_key) {
  if (rows_.empty()) return;
  add_rows_of({.start = run_begin_,
               .size = static_cast<std::uint32_t>(run_end_ - run_begin_),
               .pauth_key = b_key ? PauthKey::b : PauthKey::a});
}

/// Adds rows_, which it empties.
void Writer::add_rows_of(const Fde& fde) {
  const std::uint64_t added =
      add_rows(out_, fde, rows_, out_.report.from_code,
               [&](const AddressRange& range, const Reason& why) { report(range, why); });
  rows_.clear();
  covered_ += added;
  out_.report.pc_bytes.total += added;
  out_.report.pc_bytes.covered += added;
  out_.report.code_bytes += added;
}

/// Adds to the report what no function covers, and what was not left out before.
void Writer::leave_out_range(const AddressRange& range, Reason reason) {
  claims_.add(range.start, {range_end(range.start, range.size), no_owner},
              [&](const AddressRange& part) { report(part, reason); });
}

void Writer::report(const AddressRange& range, Reason reason) {
  out_.report.leave_out(range.start, range.end(), reason, left_ != 0);
  out_.report.pc_bytes.total += range.size;
  left_ += range.size;
}

struct Found {
  CodeFunctionList functions;
  std::vector<State> states; ///< of functions
  std::vector<SignalReturn> signal_returns;
};

/// Finds all functions, and decides which of them are accepted. The analysis, which is as large as its
/// largest function, ends before anything is written. No functions if its steps are used up: what calls or
/// jumps into one may be missing, so nothing is proven.
Found find(const CfiInput& input, const AddressSet& holes, const Options& options, RowPool& pool) {
  Found found;
  CodeFunctions analysis(input, holes, pool, options.threads);
  std::vector<std::uint64_t> other_addresses;
  found.functions = analysis.find(other_addresses);
  if (analysis.is_out_of_steps())
    found.functions.clear();
  else
    found.signal_returns = find_signal_returns(input, holes, found.functions, other_addresses);
  Proof proof(input, analysis, found.functions, found.signal_returns);
  proof.run();
  found.states = proof.states();
  return found;
}

} // namespace

void add_from_code(const CfiInput& input, const AddressSet& described, const Options& options,
                   Conversion& out) {
  const AddressSet holes = input.image->executable_addresses().without(described);
  if (holes.empty()) return;
  RowPool pool;
  const auto [functions, states, signal_returns] = find(input, holes, options, pool);
  Writer writer(input, options, out);
  for (const SignalReturn& one : signal_returns) writer.add(one);
  const auto is_accepted = [&](std::size_t i) { return states[i] == State::accepted; };
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (is_accepted(i)) writer.claim(i, functions[i]);
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (is_accepted(i)) writer.add(i, functions[i]);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (is_accepted(i) || states[i] == State::signal_return) continue;
    const State state = states[i];
    const Reason& why = functions[i].rows.has_data ? data
                        : state == State::refuted  ? entry_refuted
                        : state == State::unproven ? entry_unproven
                                                   : ambiguous;
    writer.leave_out(functions[i], why);
  }
}

} // namespace sframe::generate
