// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings of the comparison of rows with code. The kind of some depends on the code after them: they are
// pending until the run of instructions to which they apply has ended.

#pragma once

#include "merge.h"
#include "sframe/code/analysis.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/verdicts.h"
#include "unit_rows.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::verify {

class CodeFindings {
public:
  /// All references must outlive the object.
  CodeFindings(const Input& input, Budget& budget, const UnitRows& rows, Verdicts& verdicts, Sink& sink);

  /// A finding that marks the function as contradicted by the code.
  void contradict(Id id, const code::Reached& at, const PlacedRow& row, std::string message);
  void add_undecided(const code::Reached& at, const PlacedRow& row, std::string why);
  /// `row`: the one for the call's return address, if there is one.
  void add_return_address(Id id, const code::Reached& at, const std::optional<FrameRow>& row);
  void note(Id id, std::uint64_t begin, std::uint64_t end, std::string_view message);

  /// `larger_frame`: the frame is larger than according to the row.
  void add_pending(Id id, const code::Reached& at, const PlacedRow& row,
                   llvm::function_ref<std::string()> message, bool larger_frame = false);
  bool any_pending() const { return !pending_.empty(); }
  void see_next_row(const code::Reached& at, const PlacedRow& row);
  void settle(code::Exit exit, bool stops);
  void allow_stack_switch(const code::Reached& at);

  /// Whether stubs are checked, block by block. Blocks end with flush().
  void set_in_blocks(bool in_blocks) { in_blocks_ = in_blocks; }
  /// Adds what was collected for the whole unit.
  void end_rows();
  void flush() { merger_.flush(); }

private:
  struct Pending {
    Finding finding;
    std::uint64_t begin = 0, end = 0;
    PlacedRow row; ///< the contradicted row
    bool larger_frame = false;
    bool next_row_right = false; ///< the next row follows, and gives the right CFA
  };

  Finding at_instruction(Id id, const code::Reached& at) const;
  Finding describe(Id id, const code::Reached& at, const PlacedRow& row, std::string message);
  bool is_late_prologue(const Pending& pending) const;
  void add_late_prologue(Pending& pending);

  const Input& input_;
  Budget& budget_;
  const AbiTraits& abi_;
  const UnitRows& rows_;
  Verdicts& verdicts_;
  Sink& sink_;
  Merger merger_;
  std::vector<Pending> pending_;
  bool in_blocks_ = false;
  std::optional<Finding> late_prologue_; ///< the first of the unit
  std::uint32_t late_prologues_ = 0;
};

} // namespace sframe::verify
