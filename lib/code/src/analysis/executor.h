// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes one instruction: what it does to the state, and where control goes from it. Effects on registers
// are Transfer's; here is what control means: a call returns in the state that its callee leaves, an indirect
// jump goes to the entries of its table, a branch tells something on either side.
//
// Control that goes to the next instruction is the answer of step(). Where else it may go is told to Edges,
// if the caller wants to know: the data flow does, a question about results does not.

#pragma once

#include "blocks.h"
#include "callee_effects.h"
#include "exits.h"
#include "function_ends.h"
#include "instructions.h"
#include "joins.h"
#include "jump_tables.h"
#include "transfer.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::code {

/// Where control goes from an instruction beside the next one, with the state there. All addresses are in the
/// function.
class Edges {
public:
  virtual void jump(std::uint64_t target, const State& state, std::uint32_t from) = 0;
  /// Perhaps, to each of the targets.
  virtual void guess(std::span<const std::uint64_t> targets, const State& state, std::uint32_t from) = 0;
  /// A call may throw. `state`: after the call.
  virtual void unwind(std::uint64_t landing_pad, const State& state, std::uint32_t from) = 0;
  /// The instruction jumps over data.
  virtual void skip(std::uint64_t begin, std::uint64_t end) = 0;
  /// True if an edge has shown that the states so far are wrong: nothing more is to be executed.
  virtual bool must_restart() const = 0;

protected:
  ~Edges() = default;
};

class Executor {
public:
  Executor(const Subject& subject, Instructions& instructions, const Blocks& blocks, Transfer& transfer,
           JumpTables& tables, const Joins& joins, FunctionEnds& ends, CalleeEffects& callees)
      : subject_(subject), code_(instructions), blocks_(blocks), transfer_(transfer), tables_(tables),
        joins_(joins), ends_(ends), callees_(callees) {}

  /// s390x: `br %r14` returns, but compilers also use r14 for jumps within the function. True for such a
  /// jump: r14 holds an entry of a table, an address in the function, or what another instruction of the
  /// block has put there, unless that is a word of the frame.
  bool jumps_by_link(std::uint32_t index, const State& state) const;

  /// Executes an instruction: changes `state` to that at the next one. False if control does not reach that.
  /// `edges`: nullptr if nobody wants to know.
  bool step(std::uint32_t index, State& state, Edges* edges) {
    Decoded& decoded = code_[index];
    if (decoded.instruction.flow != Flow::next || calls_system(decoded.instruction) ||
        decoded.instruction.executes != Executes::nothing)
      return step_control(index, state, edges);
    transfer_.apply(index, decoded, state);
    return true;
  }

private:
  bool step_control(std::uint32_t index, State& state, Edges* edges);
  std::optional<std::uint64_t> executed_by(std::uint32_t index, const State& before);
  bool loads_from_frame(const Effect& effect) const;
  bool is_thread_start(const Instruction& instruction, const State& state) const;
  void leave(std::uint32_t index, State& state, Edges& edges);
  void forget_popped_words(std::uint32_t index, State& state) const;
  void jump_indirectly(std::uint32_t index, const State& state, Edges& edges);
  bool continues(std::uint32_t index, State& state, Edges* edges);
  bool continues_after_call(std::uint32_t index, State& state, Edges* edges);
  bool continues_after_trap(std::uint32_t index, const State& state);
  void follow_exception(std::uint32_t index, const State& after, Edges* edges) const;

  const Subject& subject_;
  Instructions& code_;
  const Blocks& blocks_;
  Transfer& transfer_;
  JumpTables& tables_;
  const Joins& joins_;
  FunctionEnds& ends_;
  CalleeEffects& callees_;
};

} // namespace sframe::code
