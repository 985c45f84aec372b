// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks one function's rows against its code. unit_rows.h has what is compared, code_findings.h what becomes
// of differences.

#pragma once

#include "code_findings.h"
#include "go_rows.h"
#include "sframe/code/row_follower.h"
#include "sframe_rows.h"
#include "unit_rows.h"

#include <optional>
#include <vector>

namespace sframe::verify {

class CodeChecker {
public:
  /// For `units`, which must be passed to check() in this order. `functions` are all SFrame functions,
  /// disjoint and by address. Takes from `budget` instead of the input's. Several checkers call `environment`
  /// from several threads. All references must outlive the object.
  CodeChecker(const Input& input, Budget& budget, std::span<const OwnedRange> functions,
              std::span<const CodeUnit> units, code::Analyzer& analyzer, code::Environment& environment,
              const GoRows& go, Verdicts& verdicts, Sink& sink);

  void check(const CodeUnit& unit);

private:
  FrameRow entry_row();
  void check_rows(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  void check_blocks(const SframeInterval& blocks);
  bool check_stubs();
  void check_stub(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  bool analyse(const FrameRow& entry, std::uint64_t begin, std::uint64_t end);
  void visit(const code::Reached& at);
  void add_disagreement(const code::Reached& at, const PlacedRow& row);
  bool next_row_is_late(const code::Reached& at, const PlacedRow& row) const;
  bool switches_stack(const code::Reached& at, const PlacedRow& row) const;
  bool is_shared_epilogue() const;
  void check_exit(const code::Reached& at, const PlacedRow& row);
  void check_return_address(const code::Reached& at, const PlacedRow& row);
  void check_tail_call(const code::Reached& at);
  void add_obstacles();
  void add_gaps();

  const Input& input_;
  Budget& budget_;
  const AbiTraits& abi_;
  UnitRows rows_;
  SframeRows sframe_;
  std::optional<SframeInterval> ahead_; ///< already read, but belongs to a later unit
  code::Analyzer& analyzer_;
  code::Environment& environment_;
  const GoRows& go_;
  Verdicts& verdicts_;
  CodeFindings findings_;
  code::RowFollower follower_;

  // The current function.
  std::optional<elf::GoFunction> go_function_;
  const CodeUnit* unit_ = nullptr;
  const code::Results* results_ = nullptr;
  std::vector<FrameRow> hints_; ///< rows for ambiguous code
  std::vector<code::CallSite> call_sites_;
  std::size_t next_row_ = 0;
  std::uint64_t previous_end_ = 0; ///< of the preceding instruction
};

} // namespace sframe::verify
