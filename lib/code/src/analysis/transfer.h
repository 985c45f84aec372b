// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instruction does to a state: its effects, one after the other (sframe/code/instruction.h). For
//
//     push %rbp               SP := cfa - 16; the word there := rbp at the entry
//     and $-32,%rsp           SP := a symbol, below the frame: it is not known how far
//     call f                  also return_from_call(): the words below SP and most registers are lost
//
// Where control goes is for others to say.

#pragma once

#include "instructions.h"
#include "jump_tables.h"

#include <cstdint>

namespace sframe::code {

class Transfer {
public:
  Transfer(const Subject& subject, const Instructions& instructions, JumpTables& tables)
      : subject_(subject), code_(instructions), tables_(tables) {}

  /// Before a run.
  void reset();

  /// `state` becomes that after the instruction's effects. `index`: its number; `decoded`: it, or a copy that
  /// keeps what is found out.
  void apply(std::uint32_t index, Decoded& decoded, State& state) {
    if (decoded.instruction.writes_flags) state.compare.reg = Effect::none;
    for (const Effect& effect : code_.effects(decoded)) apply(effect, index, decoded, state);
  }
  /// After a call, whose effects were applied: what a callee does that follows the ABI.
  void return_from_call(const Instruction& instruction, State& state) const;
  /// The same, where a call enters the function itself.
  void enter_internal_call(const Instruction& instruction, State& state) const;

private:
  /// How SP moves when it cannot be followed: down by alignment or alloca, up when that is undone.
  enum class Move : std::uint8_t { anywhere, up, down };

  void apply(const Effect& effect, std::uint32_t index, Decoded& decoded, State& state);
  void write(std::uint8_t reg, Value value, Decoded& decoded, State& state, Move move = Move::anywhere);
  void write_memory(const Effect& effect, const Value& location, State& state) const;
  bool replaces_own_return_address(const Effect& effect, const Value& location) const;
  Value copied(const Effect& effect, std::uint32_t index, State& state);
  Value sum(const Value& value, const Effect& effect, const State& state);
  Value masked(const Value& value, std::int64_t mask) const;
  Value from_table(const Effect& effect, Decoded& decoded, const State& state);

  const Subject& subject_;
  const Instructions& code_;
  JumpTables& tables_;
  std::uint16_t num_symbols_ = 0;
};

} // namespace sframe::code
