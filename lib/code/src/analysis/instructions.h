// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of the function, each decoded once, when it is first wanted. They are numbered in that
// order; the parts of the analysis refer to them by number. Code that jumps into the middle of an instruction
// gets both readings; there are never more instructions than bytes.

#pragma once

#include "effort.h"
#include "other_code.h"
#include "subject.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace sframe::code {

inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

/// An instruction, and what each part of the analysis keeps for it: one record, since a table for each part
/// takes longer.
struct Decoded {
  // Instructions
  Instruction instruction;
  std::uint32_t first_effect = 0;
  std::uint16_t num_effects = 0;
  bool bad = false;              ///< not an instruction
  bool calls_trap = false;       ///< a call of an instruction that control does not leave
  bool pushes_and_jumps = false; ///< Reached::pushes_and_jumps
  // Transfer
  bool sp_lost = false;     ///< SP got a value that is not known here
  std::uint16_t symbol = 0; ///< the symbol that SP gets here; 0 = none yet
  // JumpTables
  std::uint32_t table = no_index; ///< of a load: the table that it reads
  // Blocks
  std::uint32_t block = no_index; ///< the block that starts here
  std::uint32_t owner = no_index; ///< the last block that ran through this instruction
  bool leader = false;            ///< a block may start here
  std::uint8_t words_steps = 0;   ///< Effort::steps_of_words() of the state here, when its block was run last
  bool runs_off = false;          ///< control leaves the function's end here
  // Guesses
  std::uint32_t guess = no_index; ///< of an edge that may not exist
  // Executor
  bool unresolved = false;      ///< an indirect jump
  bool does_not_return = false; ///< a call that was found not to return
};

class Instructions {
public:
  Instructions(const Subject& subject, Effort& effort);

  /// Before a run: forgets all.
  void reset();
  /// Before the data flow is repeated: keeps what was decoded, and which calls do not return.
  void forget_flow();

  /// False if the ABI has no decoder: then nothing may be decoded.
  bool can_decode() const { return decoder_ != nullptr; }
  /// Decodes the instruction at an address of the function that has none yet. Returns its number. It is `bad`
  /// if it cannot be paid: a function may be larger than what is left of the budget.
  std::uint32_t decode(std::uint64_t address);
  /// Makes an instruction that executes the one at `address` (s390x: ex) what that is. If a register changes
  /// that one, all that counts is whether it may be a branch. Not again for the same instruction.
  void execute(std::uint32_t index, std::uint64_t address);
  /// Addresses of all that execute() got, some perhaps several times.
  std::span<const std::uint64_t> executed() const { return executed_; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.size()); }
  /// By number. References are valid until the next decode().
  Decoded& operator[](std::uint32_t index) { return code_[index]; }
  const Decoded& operator[](std::uint32_t index) const { return code_[index]; }
  std::span<const Decoded> all() const { return code_; }
  std::uint32_t number_of(const Decoded& decoded) const {
    return static_cast<std::uint32_t>(&decoded - code_.data());
  }
  std::span<const Effect> effects(const Decoded& decoded) const {
    return {effects_.data() + decoded.first_effect, decoded.num_effects};
  }

  /// The instruction that starts at the address, or no_index.
  std::uint32_t at(std::uint64_t address) const {
    return subject_.contains(address) ? index_of_[subject_.offset_of(address)] : no_index;
  }
  /// The same, at an offset from the start, which must be of the function.
  std::uint32_t at_offset(std::uint64_t offset) const { return index_of_[offset]; }
  /// The one after another, or no_index.
  std::uint32_t after(const Instruction& instruction) const {
    return at(instruction.address + instruction.length);
  }
  /// The first address at or after `address` without padding, as far as that is decoded.
  std::uint64_t after_padding(std::uint64_t address) const;
  /// True if decoding the function from its start reaches the address. Compilers keep data out of code, so
  /// this detects addresses that are none of an instruction. The first call decodes all of the function.
  bool is_in_line(std::uint64_t address);
  /// The padding at `address`, below `end`: the length of its first instruction, or 0. Keeps nothing.
  std::uint32_t padding(std::uint64_t address, std::uint64_t end);

private:
  /// Of an instruction whose effects are the last ones in effects_: adds what is known of where it leads.
  void complete(Decoded& decoded);
  /// A copy of the longest instruction's bytes at an address, or of what there is.
  std::vector<std::byte> bytes_at(std::uint64_t address) const;

  const Subject& subject_;
  Effort& effort_;
  std::unique_ptr<Decoder> decoder_;
  OtherCode other_code_;
  std::vector<Decoded> code_;
  std::vector<Effect> effects_;
  std::vector<std::uint32_t> index_of_; ///< by byte: the instruction that starts there
  std::vector<bool> in_line_;           ///< by byte: the result of is_in_line(), if it was called
  std::vector<Effect> scratch_effects_;
  std::vector<std::uint64_t> executed_;
};

} // namespace sframe::code
