// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How functions without CFI are found. Three things are not known at first, and each depends on the others:
// where functions start, how far they go, and which of them return. So find() repeats three searches, one
// inside the other, until none has something new:
//
//   (3) while find_no_return() finds any:            the first time, from the symbols and pointers on
//     (2) while analyse_gaps() finds any:            at most max_rounds times, and not again after (3)
//       (1) while analyse_starts(), analyse_longer_ones() or analyse_callers_before() has something new:
//             analyse_callers()
//
// (1) Follows calls and jumps. Starts come from symbols, pointers, and code with CFI. Each is analysed as if
// it was called; what it calls and jumps to are new starts. A function that was analysed before a start
// inside it was known is analysed again: it ends there (analyse_longer_ones()), or the call before it does
// not return (analyse_callers_before()). Then analyse_callers() derives from the results which functions
// return (Returns), and analyses again the callers for which that matters.
//
// (2) Takes code that nothing reaches, in address order, for functions that follow one another. Their calls
// are new starts for (1). This runs at most max_rounds times, after (1) has nothing new.
//
// (3) Callees of which at least one call in max_calls_per_end is the last instruction of a function perhaps
// never return. Their callers are analysed again, and (1) follows; (2) does not. This comes last, since it is
// a guess that each function found before makes better.
//
// What bounds each:
//
//   analyse(), one function    max_runs runs over at most max_window bytes, or the symbol's size. A run is
//                              repeated only with a larger window or with one more address in `inside`
//   analyse_starts()           an address becomes a start once (Place::is_start), and is in pending_ once
//   analyse_longer_ones()      an address becomes a name once. It makes only functions shorter that reach
//                              over it, and these end at it from then on
//   analyse_callers_before()   once for each start
//   analyse_callers()          max_call_depth rounds each time. In a round, functions are decided by address:
//                              those that depend on a change and were passed wait for the next one, so each
//                              is decided at most once. `never` is final
//   analyse_gaps()             max_rounds, each linear in the holes and in what was found
//   find_no_return()           Place::no_return is set once and never cleared, so that there are fewer rounds
//                              than places
//
// So each search ends without a budget, too: there are finitely many aligned addresses in the holes, and each
// of them is made a start, a name and a function that does not return at most once. The number of analyses is
// not linear, though: a function may be analysed again for each start and name inside its window, and for
// each round of analyse_callers() and find_no_return() that concerns it.
//
// What bounds the whole is therefore Resource::code_steps, which follows from the size of the file: a fixed
// amount and some for each byte (docs/limits.md). All that is repeated pays before it is done: an analysis
// for itself (steps_per_function) and for its instructions, the visit of a place or of a user
// steps_per_place, a round steps_per_round. Each loop above ends when the budget is used up, so the work of
// find() is at most the budget, and what one round does without paying: sorting the ranges of all functions
// for analyse_gaps(), max_rounds times. Where a function is missing since the budget ran out, others may be
// proven wrongly; so from_code() then uses none of them, and the result does not depend on where the search
// stopped. Threads divide the budget by pieces of work (BudgetShares), so that it does not depend on their
// timing either.

#include "code_functions.h"

#include "sframe/address.h"
#include "sframe/base/budget_shares.h"
#include "sframe/base/parallel.h"
#include "sframe/code/call_end.h"
#include "sframe/code/references.h"
#include "sframe/elf/symbols.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sframe::generate {

namespace {

/// How often code that no start reaches is searched for more functions, each time after all calls and jumps
/// found there were followed.
constexpr int max_rounds = 8;
/// Bytes analysed of a function of unknown size: so many at first, and twice as many while it jumps further,
/// four times as many from a large one on, up to the maximum.
constexpr std::uint64_t first_window = 1024, large_window = 8192, max_window = 1 << 17;
/// Functions per work item of a thread, or bytes of code: enough that threads do not often wait for each
/// other where a share of the budget is used up.
constexpr std::size_t chunk_size = 64;
constexpr std::uint64_t chunk_bytes = 4096;

/// Analyses of one function: with larger windows, and more calls known to return.
constexpr int max_runs = 16;
/// How often functions are analysed again since others are known to return: the depth of calls.
constexpr int max_call_depth = 64;

/// Code elsewhere perhaps never returns if this share of its calls are at the end of functions.
constexpr std::uint32_t max_calls_per_end = 16;

/// What it costs to analyse and keep a function, beside its instructions, a place that it leads to or one
/// that leads to it, and to look for what to analyse next, in steps of the analysis.
constexpr std::uint64_t steps_per_function = 64, steps_per_place = 4, steps_per_round = 64;
/// What it costs to decode an instruction that may be padding.
constexpr std::uint64_t steps_per_padding = 1;

constexpr std::uint8_t local = 0;

/// Where the function surely goes on past the window, below `limit`: the last such address; 0 if it does not.
/// The window's last instruction may not be in it as a whole. A jump with the entry's row, of FP too, is
/// rather one to another function.
std::uint64_t goes_on_at(const CodeFunction& function, const CodeRows& rows, std::uint64_t limit,
                         const code::Machine& machine) {
  if (function.end >= limit) return 0;
  std::uint64_t last = 0;
  const auto add = [&](std::uint64_t target) {
    if (target - function.end < limit - function.end) last = std::max(last, target);
  };
  const auto is_close = [&](std::uint64_t reached) { return function.end - reached < machine.max_length; };
  if (!rows.ranges.empty() && is_close(function.start + rows.ranges.back().end)) add(function.end);
  for (const LeftOut& range : rows.left_out)
    if (!is_unreached(range) && is_close(range.start + range.size)) add(function.end);
  for (const CodeRows::Jump& jump : rows.jumps)
    if (!jump.code || !jump.row()->same_rules(function.entry)) add(jump.target);
  add(rows.tables_lead_to);
  return last;
}

std::uint64_t next_window(std::uint64_t window) {
  return std::min(window * (window < large_window ? 2 : 4), max_window);
}

/// Divides ranges among threads. Every chunk but the last has at least chunk_bytes.
struct RangeChunks {
  std::vector<std::span<const AddressRange>> ranges;
  std::vector<std::uint64_t> sizes;

  explicit RangeChunks(std::span<const AddressRange> all) {
    std::size_t begin = 0;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      size += all[i].size;
      if (size < chunk_bytes && i + 1 < all.size()) continue;
      ranges.push_back(all.subspan(begin, i + 1 - begin));
      sizes.push_back(std::exchange(size, 0));
      begin = i + 1;
    }
  }
};

template <class Visitor> void each_reached(const CodeFunction& function, Visitor visitor) {
  for (const CodeRows::Range& range : function.rows.ranges) visitor(function.at(range));
  for (const LeftOut& range : function.rows.left_out)
    if (!is_unreached(range)) visitor(AddressRange{range.start, range.size});
}

} // namespace

/// What the analysis of one function asks about calls. A call of a function that is not known to return
/// perhaps does not. Where a function's size is not known, neither does a call after which another function
/// may start (sframe/code/function_start.h), unless the function goes on after that.
class CodeFunctions::Calls final : public code::Environment {
public:
  /// `inside`: CodeFunction::inside of an earlier analysis.
  Calls(CodeFunctions& functions, const CodeFunction& function, Budget* budget,
        std::span<const std::uint64_t> inside)
      : functions_(functions), function_(function), budget_(budget), padding_(functions.abi_),
        inside_(inside.begin(), inside.end()) {}

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override {
    return functions_.callees_.constant_data(address, size);
  }
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override {
    return functions_.callees_.constant_pointer(address);
  }
  std::optional<std::uint64_t> callee_at(std::uint64_t address) override {
    return functions_.callees_.callee_at(address);
  }
  /// There are no landing pads: they belong to functions with CFI.
  bool never_returns(std::uint64_t target) override {
    return functions_.callees_.never_returns(target) || needs_exception(target);
  }
  bool needs_exception(std::uint64_t target) override { return functions_.callees_.needs_exception(target); }
  bool is_return(std::uint64_t target) override { return functions_.callees_.is_return(target); }
  std::span<const std::byte> code(std::uint64_t address, std::uint64_t size) override {
    return functions_.callees_.code(address, size);
  }
  bool may_not_return(std::optional<std::uint64_t> target, std::uint64_t next,
                      const code::StartSigns& signs) override;
  bool may_end_at(std::uint64_t address, const code::StartSigns& signs) override;

  /// Before a run.
  void start() {
    suspects_.clear();
    doubtful_.clear();
    questions_.clear();
  }
  /// Instead of a run: asks what an earlier analysis asked. True if all answers are still the same.
  bool confirms(std::span<const CodeQuestion> questions);
  /// CodeFunction::questions of the last run.
  CompactList<CodeQuestion> questions();
  /// CodeFunction::doubtful of the last run.
  CompactList<std::uint64_t> doubtful() const { return CompactList<std::uint64_t>(doubtful_); }
  /// CodeFunction::inside, after the last run.
  CompactList<std::uint64_t> inside() const;
  /// After a run: finds out after which calls the function goes on. True if there is a new one.
  bool learn(const CodeRows& rows);

private:
  bool answer(const CodeQuestion& question);
  bool is_asked_answer(CodeQuestion question);
  bool may_not_return(const CodeQuestion& question, const code::StartSigns& signs);
  bool may_start_at(std::uint64_t address, code::StartSigns signs, code::Arrival arrival);
  void learn_between(std::uint64_t low, std::uint64_t high);

  CodeFunctions& functions_;
  const CodeFunction& function_;
  Budget* budget_; ///< nullptr: no limit
  code::CallEnds padding_;
  std::set<std::uint64_t> suspects_, inside_; ///< return addresses, and padding that is jumped to
  std::vector<std::uint64_t> doubtful_;
  std::vector<CodeQuestion> questions_;
};

bool CodeFunctions::Calls::may_not_return(std::optional<std::uint64_t> target, std::uint64_t next,
                                          const code::StartSigns& signs) {
  using Kind = CodeQuestion::Kind;
  return is_asked_answer({.target = target.value_or(0),
                          .place = static_cast<std::uint32_t>(next - function_.start),
                          .kind = target ? Kind::after_direct_call : Kind::after_indirect_call,
                          .is_marked = signs.is_marked});
}

bool CodeFunctions::Calls::may_end_at(std::uint64_t address, const code::StartSigns& signs) {
  return is_asked_answer({.place = static_cast<std::uint32_t>(address - function_.start),
                          .kind = CodeQuestion::Kind::at_end,
                          .is_marked = signs.is_marked});
}

bool CodeFunctions::Calls::is_asked_answer(CodeQuestion question) {
  question.answer = answer(question);
  questions_.push_back(question);
  return question.answer;
}

CompactList<CodeQuestion> CodeFunctions::Calls::questions() {
  std::ranges::sort(questions_);
  const auto repeated = std::ranges::unique(questions_);
  return CompactList<CodeQuestion>(std::span(questions_.begin(), repeated.begin()));
}

CompactList<std::uint64_t> CodeFunctions::Calls::inside() const {
  CompactList<std::uint64_t> inside;
  inside.reserve(inside_.size());
  for (const std::uint64_t address : inside_) inside.push_back(address);
  return inside;
}

bool CodeFunctions::Calls::confirms(std::span<const CodeQuestion> questions) {
  if (budget_ && !budget_->take(Resource::code_steps, questions.size())) return false;
  return std::ranges::all_of(
      questions, [&](const CodeQuestion& question) { return answer(question) == question.answer; });
}

bool CodeFunctions::Calls::answer(const CodeQuestion& question) {
  const code::StartSigns signs{.is_marked = question.is_marked};
  if (question.kind != CodeQuestion::Kind::at_end) return may_not_return(question, signs);
  return may_start_at(function_.start + question.place, signs, code::Arrival::by_jump);
}

bool CodeFunctions::Calls::may_not_return(const CodeQuestion& question, const code::StartSigns& signs) {
  using code::Arrival;
  const bool has_target = question.kind == CodeQuestion::Kind::after_direct_call;
  const std::uint64_t next = function_.start + question.place;
  const Place* const callee = has_target ? functions_.known_place(question.target) : nullptr;
  const bool surely_returns = callee && callee->returns == Returns::surely;
  if (has_target && !surely_returns) {
    if (callee && callee->no_return) return true;
    const bool is_own = question.target - function_.start < function_.end - function_.start;
    if (is_own) return code::may_start_function(signs, Arrival::after_returning_call);
  }
  // Only code that is expected to run rarely is not aligned.
  const bool is_rare = !functions_.is_aligned(function_.start);
  const Arrival arrival = surely_returns ? Arrival::after_returning_call
                          : is_rare      ? Arrival::after_rare_call
                                         : Arrival::after_call;
  if (!may_start_at(next, signs, arrival)) return false;
  if (has_target && !surely_returns) doubtful_.push_back(question.target);
  return true;
}

/// True if another function may start at the address, or after padding there: it is a suspect then. `signs`:
/// what the code shows.
bool CodeFunctions::Calls::may_start_at(std::uint64_t address, code::StartSigns signs,
                                        code::Arrival arrival) {
  if (function_.sized || inside_.contains(address)) return false;
  const std::uint64_t after = functions_.after_padding(address, padding_, budget_);
  const Place* const place = functions_.known_place(after);
  signs.is_named = place && place->named;
  signs.is_referred_to = place && (place->is_start || place->has_address_taken);
  signs.is_after_padding = after != address;
  signs.is_aligned = functions_.is_aligned(after);
  if (!code::may_start_function(signs, arrival)) return false;
  suspects_.insert(address);
  return true;
}

bool CodeFunctions::Calls::learn(const CodeRows& rows) {
  const std::size_t before = inside_.size();
  for (const AddressRange& range : rows.guessed_ends)
    if (suspects_.contains(range.start)) learn_between(range.start - 1, range.end());
  // The parts of a function that are expected to run rarely, and others between them, are far from it.
  if (suspects_.empty() || !functions_.is_aligned(function_.start)) return inside_.size() != before;
  for (const CodeRows::Link& link : rows.links) {
    const auto* const range = last_not_above(rows.ranges, link.target, &CodeRows::Range::begin);
    if (!range || link.target >= range->end || !link.code || link.code->row.cfa != range->row().cfa) continue;
    const auto [low, high] = std::minmax(link.from, link.target);
    learn_between(function_.start + low, function_.start + high);
  }
  return inside_.size() != before;
}

/// The function goes on after the suspects in (low, high].
void CodeFunctions::Calls::learn_between(std::uint64_t low, std::uint64_t high) {
  const auto first = suspects_.upper_bound(low), last = suspects_.upper_bound(high);
  inside_.insert(first, last);
  suspects_.erase(first, last); // links are many, and long
}

CodeFunctions::CodeFunctions(const CfiInput& input, const AddressSet& holes, RowPool& pool, unsigned threads)
    : input_(input), abi_(*input.abi), holes_(holes), threads_(threads), pool_(pool),
      callees_(*input.image, {}, input.externals), maker_(abi_, pool_) {}

CodeFunctions::Place& CodeFunctions::place_of(std::uint64_t address) {
  const auto [at, is_new] = places_.try_emplace(address);
  Place& place = at->second;
  if (is_new) {
    place.address = address;
    place.external = !holes_.contains(address);
  }
  return place;
}

/// nullptr: nothing is known of the address.
const CodeFunctions::Place* CodeFunctions::known_place(std::uint64_t address) const {
  const auto at = places_.find(address);
  return at == places_.end() ? nullptr : &at->second;
}

void CodeFunctions::add_start(std::uint64_t address, bool named, std::uint64_t size) {
  if (address % code::machine(abi_).alignment != 0 || !holes_.contains(address)) return;
  Place& place = place_of(address);
  if (!std::exchange(place.is_start, true)) {
    pending_.push_back(address);
    new_starts_.push_back(address);
  }
  if (place.size == 0) place.size = size;
  if (!named || std::exchange(place.named, true)) return;
  named_.insert(address);
  new_names_.push_back(address);
}

bool CodeFunctions::is_aligned(std::uint64_t address) const {
  return address % code::machine(abi_).function_alignment == 0;
}

void CodeFunctions::add_starts() {
  const elf::SymbolTable table = elf::SymbolTable::load(*input_.image);
  for (const elf::Symbol& symbol : table.symbols())
    if (symbol.function() || symbol.binding != local) add_start(symbol.address, true, symbol.size);
  for (const elf::Image::LoadedPointer& pointer : input_.image->loaded_pointers())
    add_start(pointer.value, true);
  add_start(input_.image->entry(), true);
  add_referred_starts();
}

/// What code with CFI calls, and the addresses that it puts into registers: mostly to call them later.
void CodeFunctions::add_referred_starts() {
  // Nearly all holes are padding between functions.
  AddressSet wanted;
  code::CallEnds padding(abi_);
  for (const AddressRange& hole : holes_.ranges()) {
    if (hole.size < code::machine(abi_).function_alignment) continue;
    const auto bytes = input_.image->read(hole.start, std::min(hole.size, max_padding_between));
    if (bytes &&
        (bytes->size() < hole.size || !padding.is_padding(*bytes, hole.start, input_.image->budget())))
      wanted.add(hole);
  }
  const AddressSet described = input_.image->executable_addresses().without(holes_);
  if (wanted.empty()) return;
  const RangeChunks chunks(described.ranges());
  std::vector<std::vector<code::Reference>> found(chunks.sizes.size());
  BudgetShares shares(input_.image->budget(), chunks.sizes);
  for_each_parallel(
      found.size(), threads_, [&] { return code::ReferenceFinder(abi_); },
      [&](std::size_t i, code::ReferenceFinder& finder) {
        BudgetShares::Share budget(shares, i);
        for (const AddressRange& range : chunks.ranges[i])
          if (const auto bytes = input_.image->read(range.start, range.size))
            finder.find(*bytes, range.start, wanted, &budget, found[i]);
      });
  for (const std::vector<code::Reference>& references : found)
    for (const code::Reference& reference : references)
      add_start(reference.target, reference.is_call || is_aligned(reference.target));
}

void CodeFunctions::add_targets(const CodeFunction& function) {
  if (function.rows.has_data) return;
  const bool is_code =
      function.named || (function.follows && !function.after_zeros && is_aligned(function.start) &&
                         function.rows.returns && !function.rows.refuted);
  for (const CodeRows::Call& call : function.rows.calls) add_start(call.target, is_code);
  for (const CodeRows::Call& call : function.rows.guessed_calls) add_start(call.target, false);
  for (const CodeRows::Jump& jump : function.rows.jumps) add_start(jump.target, is_code);
  for (const std::uint64_t address : function.rows.addresses)
    if (holes_.contains(address) && !std::exchange(place_of(address).has_address_taken, true))
      new_starts_.push_back(address);
}

/// The first instruction at or after `address` that is no padding.
std::uint64_t CodeFunctions::after_padding(std::uint64_t address, code::CallEnds& padding,
                                           Budget* budget) const {
  const AddressRange* const hole = holes_.range_with(address);
  return hole ? generate::after_padding(*input_.image, address, hole->end(), padding, budget) : address;
}

/// The end of the symbol, or of what can be code of the function, in one section: at the end of one, s390x
/// has instructions that are executed from elsewhere (exrl).
std::uint64_t CodeFunctions::limit_of(std::uint64_t start) const {
  const AddressRange* const section = range_at(input_.code, start);
  const std::uint64_t hole_end =
      std::min(holes_.from(start).front().end(), section ? section->end() : ~std::uint64_t{0});
  const Place* const known = known_place(start);
  if (known && known->size != 0) return start + std::min(known->size, hole_end - start);
  const auto next = named_.upper_bound(start);
  return next == named_.end() ? hole_end : std::min(*next, hole_end);
}

CodeFunction CodeFunctions::analyse(std::uint64_t start, const FrameRow& entry, CodeRowMaker& maker,
                                    Budget* budget, std::optional<std::int32_t> fp) {
  if (budget) (void)budget->take(Resource::code_steps, steps_per_function); // the analysis stops at once then
  const std::uint64_t limit = limit_of(start);
  const Place* const known = known_place(start);
  CodeFunction function{.start = start, .end = start, .entry = entry, .rows = {}};
  function.named = known && known->named;
  function.follows = known && known->follows;
  function.after_zeros = known && known->after_zeros;
  function.sized = known && known->size != 0;
  // An earlier analysis found out how far the function goes.
  const CodeFunction* const before = known && known->found ? &known->found->function : nullptr;
  Calls calls(*this, function, budget,
              before ? std::span<const std::uint64_t>(before->inside) : std::span<const std::uint64_t>());
  std::uint64_t window = function.sized ? limit - start : first_window;
  if (before) window = std::max(window, before->end - start);
  for (int run = 0; run < max_runs; ++run) {
    function.end = start + std::min(window, limit - start);
    const auto bytes = input_.image->read(start, function.end - start);
    if (!bytes) break;
    calls.start();
    function.is_unchanged = run == 0 && before && before->end == function.end && entry == before->entry &&
                            !fp && before->sized == function.sized && calls.confirms(before->questions);
    if (!function.is_unchanged) {
      calls.start();
      function.rows = maker.make({.start = start,
                                  .bytes = *bytes,
                                  .last_end = limit,
                                  .entry = entry,
                                  .fp_at_start = fp,
                                  .call_sites = {},
                                  .rows = {},
                                  .environment = &calls,
                                  .budget = budget});
    }
    const CodeRows& rows = before && function.is_unchanged ? before->rows : function.rows;
    if (calls.learn(rows)) continue;
    if (function.sized || window >= max_window) break;
    const std::uint64_t last = goes_on_at(function, rows, limit, code::machine(abi_));
    if (last == 0) break;
    do window = next_window(window);
    while (window < max_window && last - start >= window);
  }
  if (!function.is_unchanged) function.questions = calls.questions();
  function.doubtful = calls.doubtful();
  function.inside = calls.inside();
  // What is not reached need not be the function's if its size is unknown.
  CompactList<LeftOut>& left_out = function.rows.left_out;
  if (!function.sized)
    left_out.truncate(left_out.size() - std::ranges::remove_if(left_out, is_unreached).size());
  function.rows.shrink();
  return function;
}

/// Pays for what is kept of functions. False if the budget is used up.
bool CodeFunctions::take(std::uint64_t steps) {
  Budget* const budget = input_.image->budget();
  return !budget || budget->take(Resource::code_steps, steps);
}

bool CodeFunctions::is_out_of_steps() const {
  const Budget* const budget = input_.image->budget();
  return budget && budget->is_used_up(Resource::code_steps);
}

/// Analyses functions anew, or for the first time. None once the budget is used up.
std::vector<CodeFunction> CodeFunctions::analyse(std::span<const std::uint64_t> starts) {
  if (starts.empty() || is_out_of_steps() || !take(steps_per_round)) return {};
  const std::size_t chunks = (starts.size() + chunk_size - 1) / chunk_size;
  const std::vector<std::uint64_t> sizes(chunks, chunk_size);
  std::vector<CodeFunction> made(starts.size());
  if (chunks == 1) { // often
    for (std::size_t i = 0; i < starts.size(); ++i)
      made[i] = analyse(starts[i], abi_.entry_row(), maker_, input_.image->budget());
    return made;
  }
  BudgetShares shares(input_.image->budget(), sizes);
  for_each_parallel(
      chunks, threads_, [&] { return CodeRowMaker(abi_, pool_); },
      [&](std::size_t chunk, CodeRowMaker& maker) {
        BudgetShares::Share budget(shares, chunk);
        for (std::size_t i = chunk * chunk_size; i < std::min(starts.size(), (chunk + 1) * chunk_size); ++i)
          made[i] = analyse(starts[i], abi_.entry_row(), maker, &budget);
      });
  return made;
}

void CodeFunctions::keep(CodeFunction function) {
  if (function.is_unchanged) {
    CodeFunction& before = place_of(function.start).found->function;
    function.rows = std::move(before.rows);
    function.questions = std::move(before.questions);
  }
  const CodeRows& rows = function.rows;
  const std::size_t places = rows.calls.size() + rows.guessed_calls.size() + rows.jumps.size() +
                             rows.addresses.size() + function.doubtful.size();
  if (!take(steps_per_place * places)) return;
  add_targets(function);
  Place& place = place_of(function.start);
  auto found = std::make_unique<Found>();
  const auto add_user = [&](std::uint64_t target) {
    Place& used = place_of(target);
    if (used.users.empty() || used.users.back() != &place) used.users.push_back(&place);
    return &used;
  };
  found->doubtful.reserve(function.doubtful.size());
  for (const std::uint64_t target : function.doubtful) found->doubtful.push_back(add_user(target));
  for (const CodeRows::Call& call : rows.calls) (void)add_user(call.target);
  found->jumps.reserve(rows.jumps.size());
  for (const CodeRows::Jump& jump : rows.jumps) found->jumps.push_back(add_user(jump.target));
  if (rows.surely_runs_on) found->jumps.push_back(add_user(rows.runs_on->target));
  add_undecided(place, undecided_);
  function.rows.addresses = {}; // of which the places know now
  found->function = std::move(function);
  place.found = std::move(found);
}

void CodeFunctions::add_undecided(Place& place, std::vector<Undecided>& list) {
  if (!std::exchange(place.undecided, true)) list.emplace_back(place.address, &place);
}

/// The functions that call or jump to one of the targets, or did so in an earlier analysis. By address.
std::vector<CodeFunctions::Place*> CodeFunctions::users_of(std::span<Place* const> targets) {
  std::vector<Place*> all;
  for (const Place* const target : targets) {
    if (!take(steps_per_place * target->users.size())) break;
    all.insert(all.end(), target->users.begin(), target->users.end());
  }
  std::ranges::sort(all, {}, &Place::address);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

bool CodeFunctions::analyse_starts() {
  std::vector<std::uint64_t> pending = std::exchange(pending_, {});
  std::ranges::sort(pending);
  for (CodeFunction& function : analyse(pending)) keep(std::move(function));
  return !pending.empty() && !is_out_of_steps();
}

/// Calls visitor(Place&, addresses after it) once for each analysed function of unknown size that may go on
/// at one of the addresses, which are sorted: it is no larger than a window, and ends at the next name. False
/// if the budget is used up.
template <class Visitor>
bool CodeFunctions::each_up_to(std::span<const std::uint64_t> addresses, Visitor visitor) {
  std::uint64_t from = 0;
  for (std::size_t i = 0; i < addresses.size(); from = addresses[i++]) {
    const std::uint64_t address = addresses[i];
    const auto name = named_.lower_bound(address);
    if (name != named_.begin()) from = std::max(from, *std::prev(name));
    if (address > max_window) from = std::max(from, address - max_window);
    for (auto at = places_.lower_bound(from); at != places_.end() && at->first < address; ++at) {
      if (!take(steps_per_place)) return false;
      const Place& place = at->second;
      if (place.found && !place.found->function.sized) visitor(place, addresses.subspan(i));
    }
  }
  return true;
}

/// Analyses functions anew, each once. False if there is none.
bool CodeFunctions::analyse_again(std::vector<std::uint64_t> starts) {
  std::ranges::sort(starts);
  starts.erase(std::ranges::unique(starts).begin(), starts.end());
  for (CodeFunction& function : analyse(starts)) keep(std::move(function));
  return !starts.empty() && !is_out_of_steps();
}

/// Analyses functions again for which it was not known that another one starts in them. False if there is
/// none.
bool CodeFunctions::analyse_longer_ones() {
  std::vector<std::uint64_t> longer;
  std::vector<std::uint64_t> names = std::exchange(new_names_, {});
  std::ranges::sort(names);
  const bool is_paid = each_up_to(names, [&](const Place& place, std::span<const std::uint64_t> after) {
    // limit_of(), the end of the hole apart, which does not change
    const std::uint64_t limit = after.front();
    const CodeFunction& function = place.found->function;
    bool is_longer = false;
    if (limit < function.end)
      each_reached(function, [&](const AddressRange& range) { is_longer |= range.end() > limit; });
    if (is_longer) longer.push_back(place.address);
  });
  return is_paid && analyse_again(std::move(longer));
}

/// Analyses functions again that call something right before a new start: the call perhaps does not return.
/// False if there is none.
bool CodeFunctions::analyse_callers_before() {
  std::vector<std::uint64_t> callers;
  code::CallEnds padding(abi_);
  std::vector<std::uint64_t> starts = std::exchange(new_starts_, {});
  std::ranges::sort(starts);
  const auto is_before = [&](std::uint64_t next, std::uint64_t start) {
    return next <= start && start - next <= max_padding_between &&
           after_padding(next, padding, input_.image->budget()) == start;
  };
  const auto calls_before = [&](const CodeRows& rows, std::uint64_t start) {
    // By address: the last return address that is not after the start.
    const auto* const call = last_not_above(rows.calls, start, &CodeRows::Call::next);
    const auto* const other = last_not_above(rows.after_indirect_calls, start, std::identity());
    return (call && is_before(call->next, start)) || (other && is_before(*other, start));
  };
  const bool is_paid = each_up_to(starts, [&](const Place& place, std::span<const std::uint64_t> after) {
    const CodeFunction& function = place.found->function;
    for (const std::uint64_t start : after) {
      if (start >= function.end || !take(1)) return;
      if (calls_before(function.rows, start)) return callers.push_back(place.address);
    }
  });
  return is_paid && analyse_again(std::move(callers));
}

/// As far as this function shows it, and those that it jumps to.
CodeFunctions::Returns CodeFunctions::returns(const Found& found) {
  const CodeRows& rows = found.function.rows;
  if (rows.returns) return Returns::surely;
  // A callee that is not understood yet may turn out to return.
  const bool is_open = std::ranges::any_of(
      found.doubtful, [&](const Place* callee) { return !callee->external && !callee->no_return; });
  Returns result = rows.leaves_somewhere || rows.refuted || is_open ? Returns::perhaps : Returns::never;
  for (const Place* const target : found.jumps)
    if (!target->no_return) result = std::max(result, target->returns);
  return result;
}

/// Finds out which functions never return, and analyses their callers again, until nothing changes.
void CodeFunctions::analyse_callers() {
  for (int round = 0; round < max_call_depth && !is_out_of_steps(); ++round) {
    std::vector<Place*> changed;
    std::vector<Undecided> later; // before the one that they depend on: in the next round
    std::ranges::make_heap(undecided_, std::greater());
    while (!undecided_.empty()) {
      Place& place = *undecided_.front().second;
      const Found& found = *place.found;
      std::ranges::pop_heap(undecided_, std::greater());
      undecided_.pop_back();
      if (!take(1 + found.doubtful.size() + found.jumps.size())) return;
      const Returns now = returns(found);
      if (place.returns != now && place.returns != Returns::never) { // never is final
        place.returns = now;
        changed.push_back(&place);
        if (now == Returns::never) place.no_return = true;
        if (!take(steps_per_place * place.users.size())) return;
        for (Place* const user : place.users) {
          const bool is_next = user->address > place.address;
          const std::size_t before = undecided_.size();
          add_undecided(*user, is_next ? undecided_ : later);
          if (undecided_.size() != before) std::ranges::push_heap(undecided_, std::greater());
        }
      }
      place.undecided = false;
    }
    undecided_ = std::move(later);
    if (changed.empty() || is_out_of_steps()) return;
    analyse_callers_of(changed);
  }
}

/// Analyses functions again for which it matters whether these return.
void CodeFunctions::analyse_callers_of(std::span<Place* const> callees) {
  std::vector<std::uint64_t> callers, gone; // `gone`: callees that do not return. By address
  for (Place* const callee : callees) {
    callee->is_changed = true;
    if (callee->no_return) gone.push_back(callee->address);
  }
  std::ranges::sort(gone);
  const auto is_gone = [&](const CodeRows::Call& call) {
    return std::ranges::binary_search(gone, call.target);
  };
  for (const Place* const user : users_of(callees)) {
    const Found& found = *user->found;
    const auto& calls = found.function.rows.calls;
    if (!take(1 + found.doubtful.size() + calls.size())) return;
    if (std::ranges::any_of(found.doubtful, &Place::is_changed) || std::ranges::any_of(calls, is_gone))
      callers.push_back(user->address);
  }
  for (Place* const callee : callees) callee->is_changed = false;
  (void)analyse_again(std::move(callers));
}

/// Analyses what no function reaches, in search of functions. False if nothing was found.
bool CodeFunctions::analyse_gaps() {
  std::vector<AddressRange> reached;
  std::vector<std::uint64_t> unknown_instructions;
  for (const auto& [start, place] : places_) {
    if (!place.found) continue;
    const CodeRows& rows = place.found->function.rows;
    each_reached(place.found->function, [&](const AddressRange& range) {
      // Most continue the last one: a list of all would be larger than any other.
      if (!reached.empty() && reached.back().end() == range.start)
        reached.back().size += range.size;
      else
        reached.push_back(range);
    });
    // No function starts there, although none may lead there.
    for (const std::uint64_t executed : rows.executed)
      reached.push_back({executed, code::machine(abi_).max_length});
    unknown_instructions.insert(unknown_instructions.end(), rows.unknown.begin(), rows.unknown.end());
  }
  std::ranges::sort(unknown_instructions);
  const AddressSet known(std::move(reached));
  const AddressSet unknown = holes_.without(known);
  const RangeChunks chunks(unknown.ranges());
  std::vector<std::vector<CodeFunction>> made(chunks.sizes.size());
  BudgetShares shares(input_.image->budget(), chunks.sizes);
  for_each_parallel(
      made.size(), threads_, [&] { return CodeRowMaker(abi_, pool_); },
      [&](std::size_t i, CodeRowMaker& maker) {
        BudgetShares::Share budget(shares, i);
        for (const AddressRange& gap : chunks.ranges[i]) {
          const auto last = std::ranges::lower_bound(unknown_instructions, gap.start);
          const bool after_unknown = last != unknown_instructions.begin() &&
                                     gap.start - *std::prev(last) <= code::machine(abi_).alignment;
          scan(gap, !after_unknown, maker, budget, made[i]);
        }
      });
  bool any = false;
  for (std::vector<CodeFunction>& functions : made) {
    for (CodeFunction& function : functions) {
      Place& place = place_of(function.start);
      if (std::exchange(place.is_start, true)) continue; // it will be analysed as a start
      place.follows = function.follows;
      place.after_zeros = function.after_zeros;
      any = true;
      keep(std::move(function));
    }
    functions = std::vector<CodeFunction>(); // they are many, and `= {}` would keep the memory
  }
  return any;
}

/// Adds the functions that follow one another in `gap`. `follows`: CodeFunction::follows of the first.
void CodeFunctions::scan(AddressRange gap, bool follows, CodeRowMaker& maker, Budget& budget,
                         std::vector<CodeFunction>& functions) {
  code::CallEnds padding(abi_);
  const auto bytes = input_.image->read(gap.start, gap.size);
  if (!bytes || !budget.take(Resource::code_steps, gap.size)) return;
  AddressSet reached;
  const std::uint64_t unit = code::machine(abi_).alignment;
  bool after_zeros = false;
  for (std::uint64_t at = align_up(gap.start, unit); at < gap.end();) {
    if (const AddressRange* const range = reached.range_with(at)) {
      at = align_up(range->end(), unit);
      after_zeros = false;
      continue;
    }
    if (const std::uint32_t size = padding.padding(bytes->subspan(at - gap.start), at); size != 0) {
      after_zeros = (*bytes)[at - gap.start] == std::byte{};
      at += size;
      continue;
    }
    if (const Place* const known = known_place(at); known && known->is_start) { // not reached from there
      at += unit;
      follows = after_zeros = false;
      continue;
    }
    if (budget.is_used_up(Resource::code_steps)) break;
    CodeFunction function = analyse(at, abi_.entry_row(), maker, &budget);
    each_reached(function, [&](const AddressRange& range) { reached.add(range); });
    if (!reached.contains(at)) {
      reached.add({at, unit});
      follows = false;
    }
    function.follows = follows;
    function.after_zeros = after_zeros;
    follows &= function.rows.unknown.empty();
    functions.push_back(std::move(function));
  }
}

/// Finds code that is not known to return and is called where a function ends, so that it perhaps never
/// returns. What is new.
std::vector<CodeFunctions::Place*> CodeFunctions::find_no_return() {
  struct Counts {
    std::uint32_t all = 0, at_end = 0;
  };
  std::map<std::uint64_t, Counts> callees;
  code::CallEnds padding(abi_);
  for (const auto& [start, place] : places_) {
    if (!place.found) continue;
    const CodeFunction& function = place.found->function;
    const CodeRows& rows = function.rows;
    if (!take(1 + steps_per_place * (rows.calls.size() + rows.guessed_calls.size()))) return {};
    for (const auto* const calls : {&rows.calls, &rows.guessed_calls})
      for (const CodeRows::Call& call : *calls) {
        const Place* const callee = known_place(call.target);
        if (callee && (callee->returns == Returns::surely || callee->no_return)) continue;
        Counts& of_callee = callees[call.target];
        ++of_callee.all;
        of_callee.at_end += (function.sized && call.next == function.end) ||
                            named_.contains(after_padding(call.next, padding, input_.image->budget()));
      }
  }
  std::vector<Place*> found;
  for (const auto& [target, counts] : callees)
    if (counts.at_end != 0 && counts.at_end * max_calls_per_end >= counts.all) {
      found.push_back(&place_of(target));
      found.back()->no_return = true;
    }
  return found;
}

CodeFunctionList CodeFunctions::find(std::vector<std::uint64_t>& other_addresses) {
  add_starts();
  for (int round = 0; !is_out_of_steps(); ++round) {
    while (analyse_starts() || analyse_longer_ones() || analyse_callers_before()) analyse_callers();
    if (round == max_rounds || !analyse_gaps()) break;
    analyse_callers();
  }
  for (auto found = find_no_return(); !found.empty() && !is_out_of_steps(); found = find_no_return()) {
    analyse_callers_of(found);
    for (Place* const user : users_of(found)) add_undecided(*user, undecided_);
    analyse_callers();
    while (analyse_starts() || analyse_longer_ones() || analyse_callers_before()) analyse_callers();
  }
  std::vector<std::uint64_t> executed; // also by functions that were found in the same round
  for (const auto& [start, place] : places_)
    if (place.found)
      executed.insert(executed.end(), place.found->function.rows.executed.begin(),
                      place.found->function.rows.executed.end());
  std::ranges::sort(executed);
  CodeFunctionList functions;
  for (auto& [start, place] : places_) {
    place.users = {};
    if (!place.found && place.has_address_taken) other_addresses.push_back(start);
    if (!place.found) continue;
    if (!place.named && std::ranges::binary_search(executed, start)) continue;
    functions.push_back(std::move(place.found->function));
    functions.back().has_address_taken = place.has_address_taken;
    functions.back().forget_search();
    place.found.reset();
  }
  return functions;
}

std::uint64_t after_padding(const elf::Image& image, std::uint64_t address, std::uint64_t end,
                            code::CallEnds& padding, Budget* budget) {
  const auto bytes = image.read(address, std::min(end - address, max_padding_between));
  if (!bytes) return address;
  std::uint64_t at = 0, steps = 0;
  while (at < bytes->size()) {
    steps += steps_per_padding;
    const std::uint32_t size = padding.padding(bytes->subspan(at), address + at);
    if (size == 0) break;
    at += size;
  }
  if (budget) (void)budget->take(Resource::code_steps, steps); // who asks notices that it is used up
  return address + at;
}

bool ends_padding(const CfiInput& input, std::uint64_t begin, std::uint64_t address,
                  code::CallEnds& padding) {
  const std::uint64_t most = std::min<std::uint64_t>(code::machine(*input.abi).max_length, address - begin);
  for (std::uint64_t size = 1; size <= most; ++size) {
    const auto bytes = input.image->read(address - size, size);
    if (bytes && bytes->front() != std::byte{} && padding.padding(*bytes, address - size) == size)
      return true;
  }
  return false;
}

void CodeFunction::forget_search() {
  doubtful = {};
  inside = {};
  questions = {};
  rows.guessed_calls = {};
  rows.after_indirect_calls = {};
  rows.guessed_ends = {};
  rows.executed = {};
  rows.unknown = {};
}

CodeFunction CodeFunctions::again(const CodeFunction& function, const FrameRow& entry,
                                  std::optional<std::int32_t> fp) {
  return analyse(function.start, entry, maker_, input_.image->budget(), fp);
}

} // namespace sframe::generate
