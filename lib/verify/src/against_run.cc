// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A merge of three lists by address: executed instructions, mismatches, functions. The record has counts, so
// the cost follows the number of different instructions, not of steps. The CFI is read along the way (CfiAt),
// for the question whether SFrame only reproduces it.

#include "sframe/verify/against_run.h"

#include "cfi_rows.h"
#include "compare_rows.h"
#include "merge.h"
#include "sframe/base/problem.h"
#include "sframe/code/disassembly.h"
#include "sframe/verify/row_table.h"

#include <algorithm>
#include <set>
#include <span>

namespace sframe::verify {

namespace {

/// The rules of the CFI at some addresses, which must be asked for in increasing order.
class CfiAt {
public:
  explicit CfiAt(const Input& input) : rows_(input, input.budget(), input.all_cfi(), nullptr) { next(); }

  std::optional<CfiRule> find(std::uint64_t address) {
    while (has_ && interval_.end <= address) next();
    if (!has_ || address < interval_.begin) return std::nullopt;
    return interval_.rule.at(address);
  }

private:
  void next() { has_ = rows_.next(interval_); }

  CfiRows rows_;
  CfiInterval interval_;
  bool has_ = false;
};

/// "CFA-8"; a distance that no frame has is another stack's, or no stack's at all.
std::string distance_text(std::string_view from, std::uint64_t expected, std::uint64_t found) {
  constexpr std::int64_t largest = 1 << 20;
  const auto distance = static_cast<std::int64_t>(found - expected);
  if (distance < -largest || distance > largest) return hex(found);
  std::string text(from);
  if (distance >= 0) text += '+';
  return text + std::to_string(distance);
}

Id id_of(RunFault fault) {
  switch (fault) {
  case RunFault::cfa: return Id::R401;
  case RunFault::ra: return Id::R402;
  case RunFault::fp: return Id::R403;
  case RunFault::no_caller: return Id::R404;
  case RunFault::outermost: break;
  }
  return Id::R405;
}

std::string message_of(const RunMismatch& mismatch, const FrameRow& row, const AbiTraits& abi) {
  const auto rule = [&](const char* name, const Rule& of, bool is_cfa = false) {
    return std::string("the ") + name + " rule " + rule_text(of, abi, is_cfa) +
           (mismatch.computed ? " yields " : " reads memory that does not exist");
  };
  switch (mismatch.fault) {
  case RunFault::cfa:
    return rule("CFA", row.cfa, true) +
           (mismatch.computed ? distance_text("CFA", mismatch.expected, mismatch.found) : std::string());
  case RunFault::ra:
    return rule("RA", row.ra) + (mismatch.computed
                                     ? hex(mismatch.found) + ", the caller is at " + hex(mismatch.expected)
                                     : std::string());
  case RunFault::fp:
    return rule("FP", row.fp) + (mismatch.computed
                                     ? hex(mismatch.found) + ", the caller's is " + hex(mismatch.expected)
                                     : std::string());
  case RunFault::no_caller: return "the row has a caller, but the program starts here";
  case RunFault::outermost: break;
  }
  return "the row has no caller, but the code was called from " + hex(mismatch.expected);
}

class RunChecker {
public:
  RunChecker(const Input& input, const RunRecord& record, Verdicts& verdicts, Sink& sink)
      : input_(input), record_(record), verdicts_(verdicts), sink_(sink), merger_(input, sink), rows_(input),
        functions_(input.pieces()) {}

  RunCoverage check();

private:
  void check(const RunInstruction& instruction, const OwnedRange* function);
  void add_faults(const RunInstruction& instruction, std::span<const RunMismatch> faults,
                  const OwnedRange& function);
  void add_without_row();
  void add_unreached();

  const Input& input_;
  const RunRecord& record_;
  Verdicts& verdicts_;
  Sink& sink_;
  Merger merger_;
  RowTable rows_;
  std::optional<CfiAt> cfi_;
  std::span<const OwnedRange> functions_; ///< disjoint, by address
  std::set<std::pair<std::uint32_t, std::uint32_t>> reached_;
  RunCoverage coverage_;
};

RunCoverage RunChecker::check() {
  const OwnedRange* last = nullptr;
  auto fault = record_.mismatches.begin();
  for (const RunInstruction& instruction : record_.instructions) {
    const OwnedRange* found = last_not_above(functions_, instruction.address, &OwnedRange::begin);
    if (found && instruction.address >= found->end) found = nullptr;
    if (found != last) merger_.flush();
    last = found;
    check(instruction, found);
    const auto first = fault;
    while (fault != record_.mismatches.end() && fault->address == instruction.address) ++fault;
    if (found && first != fault) add_faults(instruction, std::span(first, fault), *found);
  }
  merger_.flush();
  add_without_row();
  add_unreached();
  coverage_.functions = reached_.size();
  return coverage_;
}

void RunChecker::check(const RunInstruction& instruction, const OwnedRange* function) {
  coverage_.steps += instruction.visits;
  coverage_.compared += instruction.compared;
  ++coverage_.addresses;
  coverage_.addresses_compared += instruction.compared != 0;
  coverage_.addresses_without_row += !instruction.has_row;
  if (!function) return;
  reached_.insert({function->source, function->item});
  const Verdict verdict = instruction.compared ? Verdict::agree : Verdict::undecided;
  // What could not be followed once more leaves nothing open that another check has decided.
  if (verdict == Verdict::agree || verdicts_.of(function->source, function->item) == Verdict::none)
    verdicts_.add(function->source, function->item, verdict);
}

void RunChecker::add_faults(const RunInstruction& instruction, std::span<const RunMismatch> faults,
                            const OwnedRange& function) {
  const auto match = rows_.find(instruction.address);
  if (!match) return;
  const AbiTraits& abi = *rows_.abi();
  if (!cfi_) cfi_.emplace(input_);
  const auto cfi = cfi_->find(instruction.address);
  for (const RunMismatch& mismatch : faults) {
    const std::uint64_t end = instruction.address + instruction.length;
    Finding finding = input_.finding(id_of(mismatch.fault), instruction.address, end,
                                     message_of(mismatch, match->row, abi));
    finding.message +=
        " (" + std::to_string(mismatch.times) + " of " + std::to_string(instruction.compared) + " times)";
    finding.sframe = row_text(match->row, abi);
    if (cfi) {
      finding.cfi = rule_text(*cfi, abi);
      finding.compiler = compare(match->row, *cfi, abi).count == 0;
      if (finding.compiler) finding.message += cfi_agrees_suffix;
    }
    if (const auto bytes = input_.image()->read(instruction.address, instruction.length))
      finding.instruction = code::instruction_text(abi, *bytes, instruction.address);
    verdicts_.add(function.source, function.item,
                  finding.compiler ? Verdict::contradiction_in_cfi : Verdict::contradiction);
    merger_.add(std::move(finding), instruction.address, end);
  }
}

/// One note for each run of neighbouring instructions without a row.
void RunChecker::add_without_row() {
  const auto& all = record_.instructions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].has_row) continue;
    const std::uint64_t begin = all[i].address;
    while (i + 1 < all.size() && !all[i + 1].has_row && all[i + 1].address <= all[i].address + all[i].length)
      ++i;
    sink_.add(
        input_.finding(Id::R406, begin, all[i].address + all[i].length, "executed, but there is no row"));
  }
}

void RunChecker::add_unreached() {
  for (const OwnedRange& function : functions_)
    if (!reached_.contains({function.source, function.item}) &&
        verdicts_.of(function.source, function.item) == Verdict::none)
      verdicts_.add(function.source, function.item, Verdict::unreached);
}

} // namespace

RunCoverage check_against_run(const Input& input, const RunRecord& record, Verdicts& verdicts, Sink& sink) {
  return RunChecker(input, record, verdicts, sink).check();
}

} // namespace sframe::verify
