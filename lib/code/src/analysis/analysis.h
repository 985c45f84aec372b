// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the parts of the analysis of one function until nothing changes. From below to above; each part knows
// only those before it:
//
//     Subject, Effort    the function, and what its analysis has cost
//     Instructions       decodes, each instruction once; OtherCode: what they do through code elsewhere
//     Blocks, WorkList   divides the code, keeps the state at the start of each block, and which run again
//     JumpTables         what indirect jumps lead to
//     Transfer           what an instruction does to a state
//     Joins              what two states have in common
//     Guesses            edges that may not exist, for later
//     FunctionEnds       whether control goes on after a call or a jump
//     CalleeEffects      callees that do not follow the ABI
//     Executor           one instruction: the state after it, and its edges (branch.h, exits.h)
//     Arrivals           what becomes of a state at the end of an edge
//     Answers            what Results tells
//
// A run goes from what is certain to what is assumed: from the entry, to landing pads whose calls are
// doubtful, over guessed edges, and last, with rows, from the row of each piece of code that is still
// unreached. If a call turns out not to return whose effects have gone on, all states are forgotten, and it
// begins again.

#pragma once

#include "answers.h"
#include "arrivals.h"
#include "blocks.h"
#include "callee_effects.h"
#include "effort.h"
#include "executor.h"
#include "function_ends.h"
#include "guesses.h"
#include "instructions.h"
#include "joins.h"
#include "jump_tables.h"
#include "subject.h"
#include "transfer.h"

#include <cstdint>

namespace sframe::code {

class Analysis {
public:
  /// Callees are analysed for what they do to their caller's registers.
  enum class Of : std::uint8_t { functions, callees };

  explicit Analysis(const AbiTraits& abi, Of what = Of::functions);
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  void run(const Function& function);
  /// Of the last run, in steps.
  std::uint64_t cost() const { return effort_.cost(); }
  Answers& answers() { return answers_; }

private:
  void reset(const Function& function);
  void forget_flow();
  State entry_state() const;
  void forget_word(const Rule& rule, State& entry) const;
  void start();
  void run_waiting();
  void run_next();
  void run_divided_blocks();
  void run(Block& block);
  void follow_doubtful_pads();
  void follow_guesses();
  void start_at_known_rows();
  std::uint64_t covered_from(std::uint64_t offset) const;
  void assume_row(std::uint32_t index);

  Subject subject_;
  Effort effort_;
  Instructions code_;
  Blocks blocks_;
  JumpTables tables_;
  Transfer transfer_;
  Joins joins_;
  Guesses guesses_;
  FunctionEnds ends_;
  CalleeEffects callees_;
  Executor executor_;
  Arrivals arrivals_;
  Answers answers_;
};

} // namespace sframe::code
