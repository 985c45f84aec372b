// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state arrives at a leader: whether it is believed, and whether it starts a block or is joined with that
// of one. jump() and the like only say how it came.

#include "arrivals.h"

#include "sframe/base/address_ranges.h"
#include "sframe/code/row_check.h"

#include <algorithm>
#include <utility>

namespace sframe::code {
namespace {

/// More than any real block needs: a guard against bugs in the lattice.
constexpr std::uint16_t max_visits = 200;
constexpr std::size_t max_doubtful_pads = 64;
/// How often the data flow begins again since a call was found not to return.
constexpr std::uint8_t max_restarts = 8;

} // namespace

void Arrivals::reset() {
  forget_flow();
  restarts_ = 0;
}

void Arrivals::forget_flow() {
  doubtful_pads_.clear();
  certainty_ = Certainty::certain;
  if (std::exchange(must_restart_, false)) ++restarts_;
}

void Arrivals::jump(std::uint64_t target, const State& state, std::uint32_t from) {
  arrive(target, state, from, Edge::jump);
}

void Arrivals::guess(std::span<const std::uint64_t> targets, const State& state, std::uint32_t from) {
  guesses_.add(from, state, targets);
}

/// True if the edge shows that a call does not return; the edge is then ignored.
bool Arrivals::shows_no_return(const Block& block, const State& state, std::uint32_t from, Edge edge) {
  const Value old = block.in.reg(subject_.abi.sp), incoming = state.reg(subject_.abi.sp);
  const bool old_is_call = block.only_from_call != no_index;
  const bool is_call = edge == Edge::after_call;
  if (old == incoming || old_is_call == is_call || old.base != Value::Base::cfa ||
      incoming.base != Value::Base::cfa)
    return false;
  if (is_call) {
    code_[from].does_not_return = true;
    return true;
  }
  if (restarts_ >= max_restarts) return false;
  code_[block.only_from_call].does_not_return = true;
  must_restart_ = true; // its effects are in many blocks by now
  return true;
}

/// True if a guessed edge counts where its target is known by certain ones: without rows, which would show
/// what is right there. Code is not entered at two heights.
bool Arrivals::is_possible(const Block& block, const State& state) const {
  const Value known = block.in.reg(subject_.abi.sp), guessed = state.reg(subject_.abi.sp);
  return !subject_.has_rows() && !subject_.is_callee &&
         (known == guessed || known.base != Value::Base::cfa || guessed.base != Value::Base::cfa);
}

void Arrivals::start_block(std::uint32_t leader, const State& state, std::uint32_t from, Edge edge) {
  Block* const block = blocks_.add(leader);
  if (!block) return effort_.meet_limit();
  block->certainty = certainty_;
  block->only_from_call = edge == Edge::after_call ? from : no_index;
  block->in = state;
  block->in.last_store = Value::other();
  blocks_.enqueue(*block);
}

void Arrivals::join(Block& block, const State& state, std::uint32_t from) {
  if (joins_.join(block.in, state, block.address, code_[from].instruction.address)) blocks_.enqueue(block);
}

/// With rows, uncertain edges change nothing if something better is known.
void Arrivals::arrive(std::uint64_t target, const State& state, std::uint32_t from, Edge edge) {
  effort_.add();
  const std::uint32_t leader = blocks_.make_leader(target);
  if (edge == Edge::jump && certainty_ == Certainty::certain &&
      ends_.may_be_past_end(code_[from].instruction, code_[leader].instruction, state))
    return guess(std::span(&target, 1), state, from);
  const std::uint32_t index = code_[leader].block;
  if (index == no_index) return start_block(leader, state, from, edge);
  Block& block = blocks_[index];
  if (certainty_ < block.certainty) {
    // Where some calls may not return, a guessed jump is reason enough to doubt that this one does.
    if (ends_.doubts_calls() && shows_no_return(block, state, from, edge)) return;
    if (is_possible(block, state)) join(block, state, from);
    return;
  }
  if (shows_no_return(block, state, from, edge)) return;
  if (edge != Edge::after_call) block.only_from_call = no_index;
  if (block.visits > max_visits) return effort_.meet_limit();
  join(block, state, from);
}

/// Ranges of calls that may throw include some that do not, at which the frame is not what the pad's row
/// expects. They count only if no other call leads to the pad.
bool Arrivals::is_doubtful(std::uint64_t pad, const FrameRow* row, const State& state, std::uint32_t from) {
  if (!row || check(*row, state, subject_.abi).worst() != Agreement::contradicts) return false;
  const auto known = std::ranges::find(doubtful_pads_, from, &DoubtfulPad::from);
  if (known != doubtful_pads_.end())
    known->state = state;
  else if (certainty_ == Certainty::certain && doubtful_pads_.size() < max_doubtful_pads)
    doubtful_pads_.push_back({pad, from, state});
  return true;
}

/// The unwinder restores what the function saved and leaves SP as it was at the call, without the arguments
/// pushed for it (DW_CFA_GNU_args_size). Their size follows from the pad's row, else from another call with
/// the same pad.
void Arrivals::unwind(std::uint64_t pad, const State& after_call, std::uint32_t from) {
  const std::uint16_t sp_register = subject_.abi.sp;
  State state = after_call;
  const Value sp = state.reg(sp_register);
  const auto pop_to = [&](std::int32_t offset) {
    if (sp.base == Value::Base::cfa && offset > sp.offset) state.set_reg(sp_register, Value::cfa(offset));
  };
  const FrameRow* const row =
      last_not_above(subject_.function.rows, subject_.offset_of(pad), &FrameRow::offset);
  if (row && row->cfa.kind == Rule::Kind::value && row->cfa.base == sp_register) pop_to(-row->cfa.offset);
  if (is_doubtful(pad, row, state, from)) return;
  if (const std::uint32_t known = blocks_.at(pad); known != no_index) {
    Block& block = blocks_[known];
    const Value old = block.in.reg(sp_register), now = state.reg(sp_register);
    if (old.base == Value::Base::cfa && now.base == Value::Base::cfa) {
      pop_to(old.offset);
      if (old.offset < now.offset) {
        block.in.set_reg(sp_register, now);
        blocks_.enqueue(block);
      }
    }
  }
  arrive(pad, state, from, Edge::to_landing_pad);
}

void Arrivals::drop_reached_pads() {
  std::erase_if(doubtful_pads_,
                [&](const DoubtfulPad& doubtful) { return blocks_.at(doubtful.pad) != no_index; });
}

void Arrivals::unwind_anyway(std::size_t number) {
  const DoubtfulPad& doubtful = doubtful_pads_[number];
  arrive(doubtful.pad, State(doubtful.state), doubtful.from, Edge::to_landing_pad);
}

} // namespace sframe::code
