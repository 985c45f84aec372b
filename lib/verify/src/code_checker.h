// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks one function's rows against its code: decides what is a finding, and of which kind.

#pragma once

#include "work_limit.h"
#include "cfi_rows.h"
#include "code_units.h"
#include "merge.h"
#include "sframe/code/analysis.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/verdicts.h"
#include "sframe_rows.h"

#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

/// A row of SFrame and its addresses.
struct PlacedRow {
  std::uint64_t begin = 0, end = 0;
  FrameRow row; ///< no Rule::fixed; `offset` counts from the unit's start
  std::uint32_t part = 0, function = 0;
};

class CodeChecker {
public:
  /// For `units`, which must be passed to check() in this order. `functions` are all SFrame functions,
  /// disjoint and by address. Several checkers call `surroundings` from several threads. All references must
  /// outlive the object.
  CodeChecker(const Input& input, std::span<const OwnedRange> functions, std::span<const CodeUnit> units,
              code::Analyzer& analyzer, code::Surroundings& surroundings, Verdicts& verdicts, Sink& sink);

  void check(const CodeUnit& unit);

private:
  /// A finding whose kind depends on the code that follows.
  struct Pending {
    Finding finding;
    std::uint64_t begin = 0, end = 0;
    PlacedRow row;               ///< the contradicted row
    bool larger_frame = false;   ///< the frame is larger than the row says
    bool next_row_right = false; ///< the next row follows, and gives the right CFA
  };

  void check_rows(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  void check_blocks(const SframeInterval& blocks);
  bool check_stubs();
  void check_stub(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  bool analyse(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  void visit(const code::Reached& at);
  void check_row(const code::Reached& at, const PlacedRow& row);
  bool next_row_is_late(const code::Reached& at, const PlacedRow& row) const;
  bool takes_another_stack(const code::Reached& at, const PlacedRow& row) const;
  void add_undecided(const code::Reached& at, const PlacedRow& row, std::string why);
  void add_pending(Id id, const code::Reached& at, const PlacedRow& row, std::string message,
                   bool larger_frame = false);
  void see_next_row(const code::Reached& at, const PlacedRow& row);
  bool is_late_prologue(const Pending& pending) const;
  void add_late_prologue(Pending& pending);
  void contradict(const PlacedRow& row, Finding finding);
  void settle(code::Exit exit, bool ends_without_return);
  void check_exit(const code::Reached& at, const PlacedRow& row);
  void forgive_leaving_for_another_stack(const code::Reached& at);
  void check_tail_call(const code::Reached& at);
  bool is_start_of_function(std::uint64_t address) const;
  void add_obstacles();
  void add_gaps();
  void note(Id id, std::uint64_t begin, std::uint64_t end, std::string_view message);
  Finding describe(Id id, const code::Reached& at, const PlacedRow& row, std::string message);
  bool cfi_agrees(const code::Reached& at, const PlacedRow& row) const;

  FrameRow entry_row() const;
  void read_call_sites();
  void read_cfi();
  void collect_rows();
  std::optional<CfiRule> cfi_rule(std::uint64_t pc) const;
  const PlacedRow* row_at(std::uint64_t address) const;
  std::optional<FrameRow> row_elsewhere(std::uint64_t address);

  const Input& input_;
  const AbiTraits& abi_;
  std::span<const OwnedRange> functions_;
  SframeRows sframe_;
  std::optional<SframeInterval> ahead_; ///< already read, but belongs to a later unit
  code::Analyzer& analyzer_;
  code::Surroundings& surroundings_;
  Verdicts& verdicts_;
  Sink& sink_;
  Merger merger_;

  // The current function.
  const CodeUnit* unit_ = nullptr;
  const code::Results* results_ = nullptr;
  std::vector<PlacedRow> rows_;
  std::vector<FrameRow> frame_rows_; ///< the rows alone, for the analysis
  std::vector<code::CallSite> call_sites_;
  std::vector<std::pair<std::uint64_t, CfiRule>> cfi_rules_; ///< from this address on; by address
  std::size_t next_row_ = 0;
  std::uint64_t previous_end_ = 0; ///< of the preceding instruction
  std::vector<Pending> pending_;
  bool in_blocks_ = false;               ///< checking stubs, block by block
  std::optional<Finding> late_prologue_; ///< the first
  std::uint32_t late_prologues_ = 0;
  WorkLimit rows_elsewhere_{0}; ///< limit on rows of other functions that may be read
};

} // namespace sframe::verify
