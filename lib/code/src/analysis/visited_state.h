// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of a visit, block after block: computed when they are asked for, since for most instructions it
// is enough to know that nothing changed that the row depends on.

#pragma once

#include "blocks.h"
#include "executor.h"

#include <cstdint>

namespace sframe::code {

class VisitedState {
public:
  VisitedState(const Instructions& instructions, Executor& executor)
      : code_(instructions), executor_(executor) {}

  void start(const Block& block) {
    known_ = &block.in;
    reached_ = wanted_ = block.first;
  }
  /// The next instruction of the block.
  void move_to(std::uint32_t index) { wanted_ = index; }
  /// The state before it.
  const State& get() { return reached_ == wanted_ ? *known_ : compute(); }
  /// Executes the instruction. False if control does not reach the next one.
  bool step() {
    (void)get();
    return execute();
  }

private:
  const State& compute();
  bool execute();

  const Instructions& code_;
  Executor& executor_;
  const State* known_ = nullptr; ///< the block's state, or `state_`
  State state_;
  std::uint32_t reached_ = no_index; ///< the instruction after `known_`
  std::uint32_t wanted_ = no_index;
};

} // namespace sframe::code
