// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which guessed code of a function is shown to be right by the way it returns.
//
// A guessed edge (an entry of a jump table without a bound, what follows a call that perhaps never returns)
// may not exist: then the code that it leads to belongs to something else, and its frame may be another one.
// But a path that surely leads from an instruction to a return tells where the CFA is at that instruction,
// no matter how control got there: SP moves by constants on the way, and the return address is on top of the
// stack at its end. Where the caller's FP is, and the return address if a register holds it, follow in the
// same way, from the return backwards: in the register until an instruction has loaded it from a word, in
// that word until an instruction has stored it. What the guess said must be the same; if the path from the
// guess returns with a wrong SP or FP, it is not shown.
//
// The path may not lead over another guess, nor restore SP from another register: the height before that
// says nothing. Where one path from an instruction returns rightly and another one wrongly, nothing of the
// function is shown.

#pragma once

#include "sframe/abi.h"
#include "sframe/code/analysis.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sframe::generate {

class ReturnProof {
public:
  /// The ABI must have a decoder.
  explicit ReturnProof(const AbiTraits& abi);

  /// Considers the results of a run of a function. True if anything is shown. Linear.
  bool find(const code::Function& function, const code::Results& results);
  /// Nothing is shown.
  void forget();

  /// The row at a guessed instruction that is shown. Without `ra_signed`.
  std::optional<FrameRow> row_at(std::uint64_t address) const;
  /// What is shown also confirms the row that the function was entered with: a table leads there, or a call
  /// out of a frame, so that a return at this height has no other explanation.
  bool confirms_entry() const { return confirms_entry_; }

private:
  /// Where a value of the caller is.
  struct Where {
    enum class Kind : std::uint8_t { nowhere, in_register, in_word } kind = Kind::nowhere;
    std::int32_t word = 0; ///< above the CFA

    friend bool operator==(const Where&, const Where&) = default;
  };
  /// A register that the caller expects back, FP or RA, at an instruction.
  struct Kept {
    bool in_register = false, is_written = false, is_loaded = false, is_stored = false;
    std::uint8_t words = 0; ///< which hold its value
    std::int32_t word = 0;  ///< the last of these, above the CFA
    Where shown;            ///< by a return
  };
  struct Step {
    std::uint64_t address = 0, target = 0; ///< of a jump or branch
    std::uint64_t end = 0;
    std::int32_t sp = 0, sp_after = 0; ///< above the CFA, if `has_sp`
    Kept fp, ra;
    code::Flow flow{};
    bool has_sp = false; ///< SP is known, and changed by a constant
    bool is_guessed = false;
    bool starts_block = false;
    bool returns = false, returns_wrong = false;
    bool stops = false;
    bool jumps_by_table = false;
    bool is_shown = false;    ///< a path leads to a right return
    bool leads_wrong = false; ///< a path leads to a wrong one
  };

  Step step_of(const code::Function& function, const code::Reached& at);
  Kept kept(const code::State& state, std::uint16_t reg) const;
  bool is_moved_by_constants(std::int64_t& distance) const;
  const Step* at(std::uint64_t address) const;
  const Step* next_of(const Step& step) const;
  const Step* target_of(const Step& step) const;
  bool show(Step& step) const;
  bool follow(Step& step, const Step* next) const;
  bool propagate();
  void look_for_entry();
  static Where before(const Kept& kept, const Where& after);

  const AbiTraits& abi_;
  std::unique_ptr<code::Decoder> decoder_;
  std::vector<code::Effect> effects_; ///< of the last instruction
  std::vector<Step> steps_;           ///< by address
  bool confirms_entry_ = false;
};

} // namespace sframe::generate
