// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the function ends, which its instructions do not say. The code after a call may be another function,
// if the callee never returns, and a jump may lead to what follows the function, if it is never taken. What
// shows it: the environment, which knows callees and other functions; a row that fits nothing that could have
// come there; code that starts as only a function does.

#pragma once

#include "instructions.h"
#include "transfer.h"

#include <cstdint>

namespace sframe::code {

class FunctionEnds {
public:
  FunctionEnds(const Subject& subject, const Instructions& instructions, Transfer& transfer, Effort& effort)
      : subject_(subject), code_(instructions), transfer_(transfer), effort_(effort) {}

  /// Before a run.
  void reset() { doubts_calls_ = false; }

  /// True if it is known that the call does not return.
  bool is_known_not_to_return(const Decoded& call) const;
  enum class AfterCall : std::uint8_t { goes_on, perhaps_ends, another_function };
  /// What follows the call: `after` is the state there if it returns.
  AfterCall after_call(const Instruction& call, const State& after);
  /// True if after_call() has said so of a call in this run.
  bool doubts_calls() const { return doubts_calls_; }
  /// True if a row starts at `next`, or after the padding there, and fits neither the state before the
  /// instruction in front of it nor the one after it.
  bool rows_show_end(std::uint64_t next, std::uint64_t after_padding, const State& before,
                     const State& after) const;
  /// True if a jump from one instruction to another leads to what perhaps follows the function: to padding,
  /// or to code that starts as only a function does.
  bool may_be_past_end(const Instruction& from, const Instruction& target, const State& state) const;
  /// True if an instruction signs the return address in the link register where that is signed already, or
  /// lost.
  bool signs_again(const Decoded& decoded, const State& state) const;

private:
  enum class Start : std::uint8_t { none, marked, another_frame };
  Start start_after(std::uint64_t next, const State& after);
  bool starts_frame(const Value& fp, const State& state) const;
  bool saves_link(const Decoded& decoded) const;
  bool changes_link(const Decoded& decoded) const;

  const Subject& subject_;
  const Instructions& code_;
  Transfer& transfer_;
  Effort& effort_;
  bool doubts_calls_ = false;
};

} // namespace sframe::code
