// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edges that may not exist: to the entries of a jump table without a bound, into the function by a call, and
// after a call that perhaps never returns. They wait until everything certain is known, each with the last
// state in which its instruction was seen; only then does it show what they add.

#pragma once

#include "effort.h"
#include "instructions.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::code {

class Guesses {
public:
  Guesses(Instructions& instructions, Effort& effort) : code_(instructions), effort_(effort) {}

  /// Before the data flow is computed, or computed again.
  void forget_flow();

  /// Control perhaps passes from an instruction to the targets, with this state. It may be called again for
  /// the instruction, with another state.
  void add(std::uint32_t from, const State& state, std::span<const std::uint64_t> targets);

  bool empty() const { return pending_.empty(); }
  /// The targets of the guess that take() follows. Valid until one is added. Not if empty().
  std::span<const std::uint64_t> next_targets() const {
    const Guess& guess = guesses_[pending_.back()];
    return std::span(targets_).subspan(guess.first_target, guess.num_targets);
  }
  /// Calls follow(target, state, from) for each target of the guess added last, and removes that one: if it
  /// is added again meanwhile, it is a new one. `follow` returns false to end this. Not if empty().
  template <class Follow> void take(Follow follow) {
    Guess& guess = guesses_[pending_.back()];
    pending_.pop_back();
    guess.pending = false;
    const State state = guess.state;
    const std::uint32_t from = guess.from, end = guess.first_target + guess.num_targets;
    for (std::uint32_t i = guess.first_target; i < end; ++i)
      if (!follow(targets_[i], state, from)) return;
  }

private:
  struct Guess {
    std::uint32_t from = 0;
    std::uint32_t first_target = 0, num_targets = 0; ///< in targets_
    bool pending = false;                            ///< not yet followed with this state
    State state;
  };

  Instructions& code_;
  Effort& effort_;
  std::vector<Guess> guesses_;
  std::vector<std::uint64_t> targets_;
  std::vector<std::uint32_t> pending_;
};

} // namespace sframe::code
