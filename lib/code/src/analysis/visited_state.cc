// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "visited_state.h"

namespace sframe::code {

const State& VisitedState::compute() {
  while (reached_ != wanted_) (void)execute();
  return *known_;
}

/// Executes the instruction at `reached_`.
bool VisitedState::execute() {
  if (known_ != &state_) state_ = *known_;
  known_ = &state_;
  const bool goes_on = executor_.step(reached_, state_, nullptr);
  reached_ = code_.after(code_[reached_].instruction);
  return goes_on;
}

const State& Reached::state() const {
  return visited.get();
}

} // namespace sframe::code
