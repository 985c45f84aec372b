// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of a state that arrives at an instruction. The first one there makes a block; each other is
// joined with what the block has, and if that changes, the block is run again. Some are not believed:
//
// - edges that may not exist wait (Guesses), and change little where something better is known;
// - a jump to what perhaps follows the function is such an edge;
// - if SP after a call differs from SP on all other paths to the place, the call does not return. If that
//   shows only after its effects went on, the data flow begins again (must_restart());
// - a call whose frame does not fit the landing pad's row throws only if no other call leads there.

#pragma once

#include "blocks.h"
#include "executor.h"
#include "function_ends.h"
#include "guesses.h"
#include "joins.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::code {

class Arrivals final : public Edges {
public:
  Arrivals(const Subject& subject, Instructions& instructions, Blocks& blocks, Joins& joins, Guesses& guesses,
           const FunctionEnds& ends, Effort& effort)
      : subject_(subject), code_(instructions), blocks_(blocks), joins_(joins), guesses_(guesses),
        ends_(ends), effort_(effort) {}

  /// Before a run.
  void reset();
  /// Before the data flow is repeated.
  void forget_flow();

  /// How certain the states are that arrive from now on.
  void set_certainty(Certainty certainty) { certainty_ = certainty; }

  void jump(std::uint64_t target, const State& state, std::uint32_t from) override;
  void guess(std::span<const std::uint64_t> targets, const State& state, std::uint32_t from) override;
  void unwind(std::uint64_t landing_pad, const State& state, std::uint32_t from) override;
  void skip(std::uint64_t begin, std::uint64_t end) override { blocks_.add_literals(begin, end); }
  bool must_restart() const override { return must_restart_; }
  /// Control falls through into another block.
  void fall(std::uint64_t target, const State& state, std::uint32_t from) {
    arrive(target, state, from, Edge::fall);
  }
  /// The same, from a call with only padding after it.
  void fall_from_call(std::uint64_t target, const State& state, std::uint32_t call) {
    arrive(target, state, call, Edge::after_call);
  }

  /// Forgets the doubtful calls whose landing pads other calls lead to. Of the others, there are
  /// num_doubtful_pads(), more while they are followed; unwind_anyway() follows one.
  void drop_reached_pads();
  std::size_t num_doubtful_pads() const { return doubtful_pads_.size(); }
  void unwind_anyway(std::size_t number);

private:
  /// How control passes from one instruction to another.
  enum class Edge : std::uint8_t { jump, fall, after_call, to_landing_pad };
  /// An edge from a call to a landing pad whose row does not fit the state after the call.
  struct DoubtfulPad {
    std::uint64_t pad = 0;
    std::uint32_t from = 0;
    State state;
  };

  void arrive(std::uint64_t target, const State& state, std::uint32_t from, Edge edge);
  void start_block(std::uint32_t leader, const State& state, std::uint32_t from, Edge edge);
  void join(Block& block, const State& state, std::uint32_t from);
  bool shows_no_return(const Block& block, const State& state, std::uint32_t from, Edge edge);
  bool is_possible(const Block& block, const State& state) const;
  bool is_doubtful(std::uint64_t pad, const FrameRow* row, const State& state, std::uint32_t from);

  const Subject& subject_;
  Instructions& code_;
  Blocks& blocks_;
  Joins& joins_;
  Guesses& guesses_;
  const FunctionEnds& ends_;
  Effort& effort_;
  std::vector<DoubtfulPad> doubtful_pads_;
  Certainty certainty_ = Certainty::certain;
  bool must_restart_ = false;
  std::uint8_t restarts_ = 0;
};

} // namespace sframe::code
