// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each start that has the instructions is a candidate. What makes the system call for others is none: it goes
// on afterwards, is called, or is entered after its start, perhaps with another number.

#include "signal_returns.h"

#include "sframe/code/signal_return.h"

#include <algorithm>
#include <optional>
#include <set>

namespace sframe::generate {

namespace {

class Finder {
public:
  /// All references must outlive the object.
  Finder(const CfiInput& input, const AddressSet& holes, const CodeFunctionList& functions)
      : input_(input), machine_(code::machine(*input.abi)), holes_(holes), functions_(functions),
        returns_(*input.abi), padding_(*input.abi) {}

  std::vector<SignalReturn> find(std::span<const std::uint64_t> addresses);

private:
  /// Bytes that are looked at: more than the code has.
  static constexpr std::uint64_t window = 64;

  struct Candidate : SignalReturn {
    std::uint64_t next = 0; ///< where a function has to start; 0: nothing depends on it
  };

  std::optional<Candidate> code_at(std::uint64_t start);
  const CodeFunction* function_at(std::uint64_t start) const;
  std::uint64_t next_function(std::uint64_t start, std::uint64_t end, std::uint64_t limit);
  bool may_have_byte_before(std::uint64_t start);
  AddressSet entered_inside(std::span<const Candidate> candidates) const;

  const CfiInput& input_;
  const code::Machine& machine_;
  const AddressSet& holes_;
  const CodeFunctionList& functions_;
  code::SignalReturns returns_;
  code::CallEnds padding_;
};

const CodeFunction* Finder::function_at(std::uint64_t start) const {
  const auto at = std::ranges::lower_bound(functions_, start, {}, &CodeFunction::start);
  return at != functions_.end() && at->start == start ? &*at : nullptr;
}

/// Where a function has to start if what starts at `start` ends at `end`. 0 if it surely does: by its symbol,
/// before padding, or before a function that has a name. `limit` is the end of what can be code of it.
std::uint64_t Finder::next_function(std::uint64_t start, std::uint64_t end, std::uint64_t limit) {
  const CodeFunction* const function = function_at(start);
  if (end == limit || (function && function->sized && function->end == end)) return 0;
  const std::uint64_t address = after_padding(*input_.image, end, limit, padding_, nullptr);
  const CodeFunction* const next = function_at(address);
  const bool is_after_padding = address != end && address % machine_.function_alignment == 0;
  return address == limit || is_after_padding || (next && next->named) ? 0 : address;
}

/// True if the byte before the code is padding, or the last one of an instruction at whose end no return
/// address is, and which is longer: nobody looks that byte up.
bool Finder::may_have_byte_before(std::uint64_t start) {
  const AddressRange* const section = range_at(input_.code, start);
  if (start == 0 || !holes_.contains(start - 1) || (section && section->start == start)) return false;
  const auto before = [&](std::uint64_t size) { return input_.image->read(start - size, size); };
  const auto ends_call = [&](std::uint64_t size) {
    const auto bytes = before(size);
    return bytes && padding_.ends_with_call(*bytes, start - size, nullptr);
  };
  const bool has_fixed_length = machine_.max_length == machine_.alignment && machine_.alignment > 1;
  if (has_fixed_length) return before(machine_.alignment) && !ends_call(machine_.alignment);
  const std::uint64_t begin = section ? section->start : 0;
  const std::uint64_t most = std::min<std::uint64_t>(machine_.max_length, start - begin);
  for (std::uint64_t size = 1; size <= most; ++size)
    if (ends_call(size)) return false; // call *-112(%rbp): ends with 90
  return ends_padding(input_, begin, start, padding_);
}

std::optional<Finder::Candidate> Finder::code_at(std::uint64_t start) {
  const AddressRange* const hole = holes_.range_with(start);
  const AddressRange* const section = range_at(input_.code, start);
  if (!hole) return std::nullopt;
  const std::uint64_t limit = section ? std::min(hole->end(), section->end()) : hole->end();
  const auto bytes = input_.image->read(start, std::min(limit - start, window));
  const std::uint32_t size = bytes ? returns_.size(*bytes, start) : 0;
  if (size == 0) return std::nullopt;
  const std::uint64_t before = may_have_byte_before(start) ? 1 : 0;
  return Candidate{{start, {start - before, size + before}}, next_function(start, start + size, limit)};
}

/// The code that control surely enters after its start, and so perhaps with the number of another system
/// call.
AddressSet Finder::entered_inside(std::span<const Candidate> candidates) const {
  std::vector<AddressRange> ranges, entered;
  std::set<std::uint64_t> starts;
  for (const Candidate& code : candidates) {
    ranges.push_back(AddressRange::between(code.start + 1, code.range.end()));
    starts.insert(code.start);
  }
  const AddressSet inside(std::move(ranges));
  const auto enter = [&](std::uint64_t target) {
    if (const AddressRange* const range = inside.range_with(target)) entered.push_back(*range);
  };
  for (const CodeFunction& function : functions_) {
    for (const auto* const jumps : {&function.rows.jumps, &function.rows.guessed_jumps})
      for (const CodeRows::Jump& jump : *jumps) enter(jump.target);
    for (const CodeRows::Call& call : function.rows.calls) enter(call.target);
    if (starts.contains(function.start)) continue; // it is the code
    for (const CodeRows::Range& range : function.rows.ranges)
      for (const AddressRange& code : inside.from(function.at(range).start)) {
        if (code.start >= function.at(range).end()) break;
        entered.push_back(code);
      }
  }
  return AddressSet(std::move(entered));
}

std::vector<SignalReturn> Finder::find(std::span<const std::uint64_t> addresses) {
  std::vector<Candidate> candidates;
  std::set<std::uint64_t> asked, called;
  const auto add = [&](std::uint64_t start) {
    const auto code = code_at(start);
    if (!code) return;
    candidates.push_back(*code);
    asked.insert({code->start, code->next});
  };
  for (const CodeFunction& function : functions_) add(function.start);
  for (const std::uint64_t address : addresses) add(address);
  if (candidates.empty()) return {};
  for (const CodeFunction& function : functions_)
    for (const CodeRows::Call& call : function.rows.calls)
      if (asked.contains(call.target)) called.insert(call.target);
  const AddressSet entered = entered_inside(candidates);
  std::vector<SignalReturn> found;
  for (const Candidate& code : candidates)
    if (!called.contains(code.start) && (code.next == 0 || called.contains(code.next)) &&
        !entered.contains(code.range.end() - 1))
      found.push_back(code);
  std::ranges::sort(found, {}, &SignalReturn::start);
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i].range.start < found[i - 1].range.end())
      found[i].range = AddressRange::between(found[i].start, found[i].range.end());
  return found;
}

} // namespace

std::vector<SignalReturn> find_signal_returns(const CfiInput& input, const AddressSet& holes,
                                              const CodeFunctionList& functions,
                                              std::span<const std::uint64_t> addresses) {
  return Finder(input, holes, functions).find(addresses);
}

} // namespace sframe::generate
