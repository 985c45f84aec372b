// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callees that do not follow the ABI. Assembly functions call helpers that preserve more registers than the
// ABI requires and keep the return address in one of these. Compilers move common parts of prologues out of
// line. If the row after a call contradicts the state that an ABI callee leaves, the callee's code is
// analysed with all registers as at its entry. Registers and stack at its returns are then expressed in terms
// of the caller. The row only triggers this; whether it is right depends on the code alone.

#pragma once

#include "instructions.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace sframe::code {

class CalleeEffects {
public:
  CalleeEffects(const Subject& subject, const Instructions& instructions, Effort& effort);
  ~CalleeEffects();

  /// Before a run.
  void reset() { known_callee_.reset(); }

  /// `after` is the state that an ABI callee leaves; refined if the row there shows that this is not one.
  void refine(const Instruction& call, const State& before, State& after);

private:
  /// What is known of a callee: it is not in the file; it could not be analysed; its effect.
  enum class CalleeIs : std::uint8_t { elsewhere, unclear, known };

  const FrameRow* row_of_callee(std::uint64_t next) const;
  const FrameRow* next_row_with_base(std::uint64_t next) const;
  const Instruction* leaves_with(std::uint64_t address, std::uint8_t reg);
  std::uint8_t returns_after(const Instruction& call, const State& before);
  bool restarts_the_function(const Instruction& call, const State& before);
  CalleeIs apply(const Instruction& call, const State& before, State& after);
  const std::optional<State>& analyse(std::uint64_t target);

  const Subject& subject_;
  const Instructions& code_;
  Effort& effort_;
  std::unique_ptr<Analysis> analysis_; ///< of callees
  /// The callee that was analysed last: many calls of a function have the same. The state where it returns.
  std::optional<std::uint64_t> known_callee_;
  std::optional<State> returned_;
};

} // namespace sframe::code
