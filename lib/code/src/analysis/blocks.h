// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the function divides into blocks, and what is known at their starts. A block is a run of instructions
// that starts at a leader: the entry, the target of a jump or a landing pad. Only blocks have a stored state;
// the states in between are computed when they are wanted.
//
// Blocks are found in two steps. discover() decodes along direct control flow, which shows leaders; a block
// exists once a state has arrived at its leader (add()). A block ends where it was seen to end when it was
// run last: before the next leader, or where control leaves. An instruction that turns out to be a leader
// inside a block divides it: the block is run again, up to there.

#pragma once

#include "instructions.h"
#include "work_list.h"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace sframe::code {

struct Block {
  std::uint64_t address = 0;
  std::uint32_t number = 0;
  std::uint32_t first = 0; ///< number of its first instruction
  std::uint32_t end = 0;   ///< where it ends, from the function's start; once it was run
  std::uint16_t visits = 0;
  Certainty certainty = Certainty::unreached;
  std::uint32_t only_from_call = no_index; ///< the call, while this is reached only by falling through it
  State in;
};

class Blocks {
public:
  Blocks(const Subject& subject, Instructions& instructions, Effort& effort)
      : subject_(subject), code_(instructions), effort_(effort) {}

  /// Before a run.
  void reset();
  /// Before the data flow is repeated.
  void forget_flow();

  // Finding them:
  /// Decodes from the address along direct control flow, up to what is known.
  void discover(std::uint64_t address);
  /// Makes the instruction at an address of the function a leader, and decodes it if it is not. Returns its
  /// number.
  std::uint32_t make_leader(std::uint64_t address) {
    const std::uint32_t index = code_.at(address);
    return index != no_index && code_[index].leader ? index : make_new_leader(address);
  }
  /// The block that starts at a leader, or no_index: no state has arrived there yet.
  std::uint32_t at(std::uint64_t address) const {
    const std::uint32_t index = code_.at(address);
    return index == no_index ? no_index : code_[index].block;
  }
  /// Adds the block that starts at a leader, by its number, and has none. nullptr: they are too many.
  Block* add(std::uint32_t leader);
  Block& operator[](std::uint32_t block) { return blocks_[block]; }
  const Block& operator[](std::uint32_t block) const { return blocks_[block]; }
  std::uint32_t size() const { return num_blocks_; }

  // Running them:
  /// The block has another state than when it was run last.
  void enqueue(const Block& block) { to_run_.add(block.address, block.number); }
  WorkList& to_run() { return to_run_; }
  /// Notes that a block reaches an instruction in this state.
  void reach(Block& block, std::uint32_t index, State& state) {
    Decoded& decoded = code_[index];
    decoded.owner = block.number;
    decoded.words_steps = static_cast<std::uint8_t>(Effort::steps_of_words(state.slots().size()));
    if (index >= changed_.size()) make_room();
    changed_[index] = state.take_changed();
    block.end = static_cast<std::uint32_t>(subject_.offset_of(decoded.instruction.address)) +
                decoded.instruction.length;
  }
  /// True if control goes on from a block to an instruction that is none of it: a leader, or one of another
  /// block.
  bool ends_before(const Block& block, std::uint32_t index) const {
    const Decoded& decoded = code_[index];
    return decoded.leader || (decoded.owner != no_index && decoded.owner != block.number);
  }
  /// The parts of the state that the instruction before this one changed, as Reached::changed.
  std::uint64_t changed_at(std::uint32_t index) const {
    return index < changed_.size() ? changed_[index] : ~std::uint64_t{0};
  }
  /// True if, in its block, an instruction before this one changed one of these parts, as it was run last.
  bool has_changed(std::uint64_t parts, std::uint32_t index) const;

  // What is covered:
  /// True if a block runs through the instruction.
  bool is_reached(std::uint32_t index) const { return index != no_index && code_[index].owner != no_index; }
  /// The end of the block that starts at an offset, if all of it is reached; else 0.
  std::uint64_t end_of_block(std::uint64_t offset) const;
  /// Data in the code: an instruction jumps over it, and gets its address.
  void add_literals(std::uint64_t begin, std::uint64_t end);
  /// The end of such data if an offset is in it; else the offset.
  std::uint64_t end_of_literals(std::uint64_t offset) const;

private:
  std::uint32_t make_new_leader(std::uint64_t address);
  void make_room();
  void note_targets(std::uint32_t index);

  const Subject& subject_;
  Instructions& code_;
  Effort& effort_;
  std::deque<Block> blocks_;     ///< large: no copies when it grows
  std::uint32_t num_blocks_ = 0; ///< used part of blocks_, which keeps its memory
  WorkList to_run_;
  std::vector<std::uint64_t> to_discover_;
  std::vector<std::uint64_t> changed_;              ///< by instruction, when its block was run last
  std::map<std::uint64_t, std::uint64_t> literals_; ///< offsets of their start and end
};

} // namespace sframe::code
