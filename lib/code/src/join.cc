// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins states where paths meet. A value on which they differ becomes a conflict: a new name for that place,
// which stores both values and persists. So each value of a block changes at most a few times, and the
// analysis terminates.

#include "engine.h"
#include "values.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace sframe::code {
namespace {

using Base = Value::Base;

/// True for values that a row could depend on.
bool matters(const Value& value) {
  return value.is_location() || value.base == Base::entry;
}

/// What two different values become, wherever they meet; nothing if that is a conflict.
std::optional<Value> common_value(const Value& a, const Value& b) {
  if (a.base == Base::unknown || b.base == Base::unknown) return Value::unknown();
  if (a.base == Base::bounded && b.base == Base::bounded && named(a, 0) == named(b, 0))
    return named(a, 0); // the bound still holds, but not which registers are copies
  if (!matters(a) && !matters(b)) return Value::other();
  return std::nullopt;
}

/// More than any real block needs: a guard against bugs in the lattice.
constexpr std::uint16_t max_visits = 200;
/// Each has a state. The largest functions of compilers have less than 10,000.
constexpr std::uint32_t max_blocks = 1 << 16;
constexpr std::size_t max_doubtful_pads = 64;

} // namespace

void Analysis::enqueue(std::uint32_t block) {
  if (blocks_[block].queued) return;
  blocks_[block].queued = true;
  queue_.push_back({code_[blocks_[block].first].instruction.address, block});
  std::ranges::push_heap(queue_, std::greater(), &BlockAt::address);
}

/// Called if the old and incoming values differ.
Value Analysis::merge(const Value& old, const Value& incoming, Conflict where) {
  if (old.base == Base::conflict && conflicts_[old.id].address == where.address) {
    const Conflict& here = conflicts_[old.id];
    if (old.offset == 0 && here.in_register == where.in_register && here.reg == where.reg &&
        here.location == where.location)
      return old;
  }
  if (const auto common = common_value(old, incoming)) return *common;
  if (conflicts_.size() > std::numeric_limits<std::uint16_t>::max()) return Value::unknown();
  where.first = old;
  where.second = incoming;
  conflicts_.push_back(where);
  return {Base::conflict, false, static_cast<std::uint16_t>(conflicts_.size() - 1), 0};
}

bool Analysis::join_words(Block& block, const State& state, std::uint32_t from) {
  bool changed = false;
  const auto where = [&](const Value& location) {
    return Conflict{.address = code_[block.first].instruction.address,
                    .second_from = code_[from].instruction.address,
                    .location = location};
  };
  for (std::size_t i = block.in.slots().size(); i-- > 0;) {
    const Slot slot = block.in.slots()[i];
    const Value incoming = state.word(slot.location);
    if (incoming == slot.value) continue;
    const bool saved = slot.value.base != Base::cfa && slot.value.base != Base::symbol;
    const Value merged =
        saved || matters(incoming) ? merge(slot.value, incoming, where(slot.location)) : Value::other();
    if (merged == slot.value) continue;
    changed = true;
    if (merged.base == Base::other)
      block.in.remove_slot(i);
    else
      block.in.set_slot(i, merged);
  }
  if (state.forgot_words() && !block.in.forgot_words()) {
    block.in.set_forgot_words();
    changed = true;
  }
  for (const Slot& slot : state.slots()) {
    if (slot.value.base != Base::entry || block.in.word(slot.location) != Value::other()) continue;
    block.in.store(slot.location, merge(Value::other(), slot.value, where(slot.location)));
    changed = true;
  }
  return changed;
}

bool Analysis::join(std::uint32_t index, const State& state, std::uint32_t from) {
  Block& block = blocks_[index];
  const bool same_words = block.in.same_words(state);
  if (same_words && block.in.same_registers(state) && block.in.compare == state.compare) return false;
  joins_ += 1 + state.slots().size() / words_per_step;
  bool changed = false;
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg) {
    const Value &old = block.in.reg(reg), &incoming = state.reg(reg);
    if (old == incoming) continue;
    // Mostly the values matter to no row: no conflict has to be prepared. An old one may be that of this
    // place.
    const auto common = old.base == Base::conflict ? std::nullopt : common_value(old, incoming);
    const Value merged = common ? *common
                                : merge(old, incoming,
                                        {.address = code_[block.first].instruction.address,
                                         .second_from = code_[from].instruction.address,
                                         .in_register = true,
                                         .reg = reg});
    if (merged == old) continue;
    block.in.set_reg(reg, merged);
    changed = true;
  }
  if (!same_words) changed |= join_words(block, state, from);
  const State::Compare &a = block.in.compare, &b = state.compare;
  if (a.reg != Effect::none && a != b) {
    block.in.compare.reg = Effect::none;
    changed = true;
  }
  return changed;
}

/// If SP after a call differs from SP on all other paths to a place, the call does not return. Returns true
/// if it concludes this; the edge is then ignored.
bool Analysis::shows_no_return(Block& block, const State& state, std::uint32_t from, Edge edge) {
  const Value old = block.in.reg(abi_->sp), incoming = state.reg(abi_->sp);
  const bool old_is_call = block.only_from_call != no_index;
  const bool is_call = edge == Edge::after_call;
  if (old == incoming || old_is_call == is_call || old.base != Base::cfa || incoming.base != Base::cfa)
    return false;
  constexpr std::uint8_t max_restarts = 8;
  if (is_call) {
    code_[from].does_not_return = true;
    return true;
  }
  if (restarts_ >= max_restarts) return false;
  code_[block.only_from_call].does_not_return = true;
  restart_ = true; // its effects are in many blocks by now
  return true;
}

/// True if a jump leads to what perhaps follows the function, since it is never taken: to padding, or to code
/// that starts as only a function does.
bool Analysis::may_be_past_end(std::uint32_t from, std::uint32_t first, const State& state) {
  if (!function_.rows.empty() || !function_.environment) return false;
  const Instruction& target = code_[first].instruction;
  const std::uint32_t after = index_at(after_padding(target.address));
  if (after == no_index) return false;
  // Labels of which the address is taken are marked, too: indirect jumps lead there.
  const Flow flow = code_[from].instruction.flow;
  const bool is_direct = flow == Flow::jump || flow == Flow::branch;
  const StartSigns signs{
      .is_marked = (code_[after].instruction.marks_start && is_direct && target.address != function_.start) ||
                   signs_again(code_[after], state)};
  return (target.is_nop || signs.is_marked) && function_.environment->may_end_at(target.address, signs);
}

/// True if a guessed edge counts where its target is known by certain ones: without rows, which would show
/// what is right there. Code is not entered at two heights.
bool Analysis::is_possible(const Block& block, const State& state) const {
  const Value known = block.in.reg(abi_->sp), guessed = state.reg(abi_->sp);
  return function_.rows.empty() && !is_callee_ &&
         (known == guessed || known.base != Base::cfa || guessed.base != Base::cfa);
}

/// With rows, uncertain edges change nothing if something better is known.
void Analysis::propagate(std::uint64_t target, const State& state, std::uint32_t from, Edge edge) {
  ++work_;
  make_leader(target);
  const std::uint32_t first = index_at(target);
  if (edge == Edge::jump && mode_ == Certainty::certain && may_be_past_end(from, first, state))
    return guess(from, state, std::span(&target, 1));
  std::uint32_t index = code_[first].block;
  if (index == no_index) {
    if (num_blocks_ >= max_blocks) {
      limit_met_ = true;
      return;
    }
    index = num_blocks_++;
    if (blocks_.size() < num_blocks_) blocks_.emplace_back();
    code_[first].block = index;
    Block& block = blocks_[index];
    block.first = first;
    block.visits = 0;
    block.queued = false;
    block.certainty = mode_;
    block.only_from_call = edge == Edge::after_call ? from : no_index;
    block.in = state;
    block.in.last_store = Value::other();
    return enqueue(index);
  }
  Block& block = blocks_[index];
  if (mode_ < block.certainty) {
    // Where some calls may not return, a guessed jump is reason enough to doubt that this one does.
    if (guesses_returns_ && shows_no_return(block, state, from, edge)) return;
    if (is_possible(block, state) && join(index, state, from)) enqueue(index);
    return;
  }
  if (shows_no_return(block, state, from, edge)) return;
  if (edge != Edge::after_call) block.only_from_call = no_index;
  if (block.visits > max_visits) {
    limit_met_ = true;
    return;
  }
  if (join(index, state, from)) enqueue(index);
}

/// The unwinder restores what the function saved and leaves SP as it was at the call, without the arguments
/// pushed for it (DW_CFA_GNU_args_size). Their size follows from the pad's row, else from another call with
/// the same pad.
void Analysis::propagate_to_pad(std::uint64_t pad, const State& after_call, std::uint32_t from) {
  State state = after_call;
  const Value sp = state.reg(abi_->sp);
  const auto pop_to = [&](std::int32_t offset) {
    if (sp.base == Base::cfa && offset > sp.offset) state.set_reg(abi_->sp, Value::cfa(offset));
  };
  const FrameRow* const row = last_not_above(function_.rows, pad - function_.start, &FrameRow::offset);
  if (row && row->cfa.kind == Rule::Kind::value && row->cfa.base == abi_->sp) pop_to(-row->cfa.offset);
  // Ranges of calls that may throw include some that do not, at which the frame is not what the pad expects.
  // They count only if no other call leads to the pad.
  if (row && check(*row, state, *abi_).worst() == Agreement::contradicts) {
    const auto known = std::ranges::find(doubtful_pads_, from, &DoubtfulPad::from);
    if (known != doubtful_pads_.end())
      known->state = state;
    else if (mode_ == Certainty::certain && doubtful_pads_.size() < max_doubtful_pads)
      doubtful_pads_.push_back({pad, from, state});
    return;
  }
  const std::uint32_t index = index_at(pad);
  if (index != no_index && code_[index].block != no_index) {
    Block& block = blocks_[code_[index].block];
    const Value old = block.in.reg(abi_->sp);
    const Value now = state.reg(abi_->sp);
    if (old.base == Base::cfa && now.base == Base::cfa) {
      pop_to(old.offset);
      if (old.offset < now.offset) {
        block.in.set_reg(abi_->sp, now);
        enqueue(code_[index].block);
      }
    }
  }
  propagate(pad, state, from, Edge::to_landing_pad);
}

/// Landing pads reached only from calls whose frame differs from that of the pad's row.
void Analysis::follow_doubtful_pads() {
  std::erase_if(doubtful_pads_, [&](const DoubtfulPad& doubtful) {
    const std::uint32_t index = index_at(doubtful.pad);
    return index != no_index && code_[index].block != no_index;
  });
  for (std::size_t i = 0; i < doubtful_pads_.size() && !restart_; ++i) {
    propagate(doubtful_pads_[i].pad, State(doubtful_pads_[i].state), doubtful_pads_[i].from,
              Edge::to_landing_pad);
    drain();
  }
}

} // namespace sframe::code
