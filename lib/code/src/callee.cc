// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callees that do not follow the ABI. Assembly functions call helpers that preserve more registers than the
// ABI requires and keep the return address in one of these. Compilers move common parts of prologues out of
// line. If the row after a call contradicts the state that an ABI callee leaves, the callee's code is
// analysed with all registers as at its entry. Registers and stack at its returns are then expressed in terms
// of the caller. The row only triggers this; whether it is right depends on the code alone.

#include "engine.h"
#include "values.h"

#include <algorithm>

namespace sframe::code {
namespace {

using Base = Value::Base;

/// Helpers are smaller.
constexpr std::uint64_t max_callee_size = 16384;
/// Limit of instructions examined after a call. Between a call of Go's runtime.morestack and the jump back,
/// all argument registers may be reloaded.
constexpr int max_reloads = 48;

/// A value of the callee in terms of the caller.
Value translated(const Value& value, const State& caller, const Value& callee_cfa) {
  switch (value.base) {
  case Base::entry: return caller.reg(value.id);
  case Base::shadow: return plus(caller.reg(value.id), value.offset);
  case Base::cfa: return plus(callee_cfa, value.offset);
  case Base::constant: return value;
  case Base::unknown: return value;
  default: return Value::other();
  }
}

} // namespace

/// The row after a call if it depends on more than what every callee preserves: if it is a new row, or if it
/// uses a register that calls clobber.
const FrameRow* Analysis::row_of_callee(std::uint64_t next) const {
  const std::uint64_t offset = next - function_.start;
  const FrameRow* const found = last_not_above(function_.rows, offset, &FrameRow::offset);
  if (!found) return nullptr;
  const FrameRow& row = *found;
  const auto is_clobbered = [&](std::uint16_t reg) {
    return reg < machine_->num_registers && machine_->call_clobbered >> reg & 1;
  };
  const auto rests_on_callee = [&](const Rule& rule, std::uint16_t own_register) {
    switch (rule.kind) {
    case Rule::Kind::same: return is_clobbered(own_register);
    case Rule::Kind::value:
    case Rule::Kind::stored: return rule.base != Rule::cfa_base && is_clobbered(rule.base);
    default: return false;
    }
  };
  const bool asks = row.offset == offset || rests_on_callee(row.cfa, abi_->sp) ||
                    rests_on_callee(row.ra, abi_->ra) || rests_on_callee(row.fp, abi_->fp);
  return asks ? &row : nullptr;
}

/// The first row near a call's return that computes the CFA from a register other than SP. An out-of-line
/// prologue may set that register up, and the row may start only after SP was moved.
const FrameRow* Analysis::next_row_with_base(std::uint64_t next) const {
  constexpr std::uint64_t near = 64;
  const std::uint64_t offset = next - function_.start;
  auto row = std::ranges::upper_bound(function_.rows, offset, {}, &FrameRow::offset);
  for (; row != function_.rows.end() && row->offset - offset <= near; ++row)
    if (row->cfa.kind != Rule::Kind::value || row->cfa.base != abi_->sp)
      return row->cfa.kind == Rule::Kind::value ? &*row : nullptr;
  return nullptr;
}

/// The first instruction at or after `address` that does not continue to the next one, if nothing before it
/// writes `reg` or SP; nullptr if there is none nearby.
const Decoded* Analysis::leaves_with(std::uint64_t address, std::uint8_t reg) {
  for (int i = 0; i < max_reloads; ++i) {
    ++work_;
    const std::uint32_t index = index_at(address);
    if (index == no_index || code_[index].bad) return nullptr;
    const Decoded& decoded = code_[index];
    for (std::uint32_t e = 0; e < decoded.num_effects; ++e) {
      const Effect& effect = effects_[decoded.first_effect + e];
      const bool writes_register = effect.kind != Effect::Kind::store &&
                                   effect.kind != Effect::Kind::overwrite &&
                                   effect.kind != Effect::Kind::compare;
      if (writes_register && (effect.reg == reg || effect.reg == abi_->sp)) return nullptr;
    }
    if (decoded.instruction.flow != Flow::next) return &decoded;
    address += decoded.instruction.length;
  }
  return nullptr;
}

/// Go functions request a larger stack first: with the return address in a register they call
/// runtime.morestack, which restarts them with all registers unchanged. After the call they reload arguments
/// and jump to their own start. No other callee restores the link register.
bool Analysis::restarts_the_function(const Instruction& instruction, const State& before) {
  const std::uint8_t link = instruction.link_register;
  if (link == Effect::none || link != abi_->ra || function_.entry.ra.kind != Rule::Kind::same) return false;
  bool is_kept = false;
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
    is_kept |= reg != link && signed_value(before.reg(reg), false) == Value::entry(link);
  const Decoded* last = is_kept ? leaves_with(instruction.address + instruction.length, link) : nullptr;
  return last && last->instruction.flow == Flow::jump && last->instruction.target == function_.start;
}

/// If the next control transfer is a return to a register that had the return address before the call, the
/// callee preserves that register: a convention between assembly functions. Returns the register, or none.
std::uint8_t Analysis::returns_after(const Instruction& instruction, const State& before) {
  if (instruction.link_register == Effect::none) return Effect::none;
  for (std::uint8_t reg = 0; reg < machine_->num_registers; ++reg) {
    if (reg == instruction.link_register || signed_value(before.reg(reg), false) != Value::entry(abi_->ra))
      continue;
    const Decoded* last = leaves_with(instruction.address + instruction.length, reg);
    if (last && last->instruction.flow == Flow::ret && last->instruction.jump_register == reg) return reg;
  }
  return Effect::none;
}

/// `after` is the state that an ABI callee leaves; refined if the row there shows that this is not one.
void Analysis::apply_known_callee(const Instruction& instruction, const State& before, State& after) {
  if (function_.rows.empty()) return;
  const std::uint64_t next = instruction.address + instruction.length;
  if (!contains(next)) return;
  const FrameRow *row = row_of_callee(next), *base_row = next_row_with_base(next);
  const auto row_is_wrong = [&](const State& state) {
    return row && check(*row, state, *abi_).worst() == Agreement::contradicts;
  };
  const auto base_is_wrong = [&](const State& state) {
    return base_row && check(*base_row, state, *abi_).cfa.agreement == Agreement::contradicts;
  };
  const bool asks_for_row = row_is_wrong(after), asks_for_base = base_is_wrong(after);
  if (!asks_for_row && !asks_for_base) return;
  if (restarts_the_function(instruction, before)) {
    const State entry = State::at_entry(function_.entry, *abi_, *machine_);
    after.set_reg(abi_->ra, entry.reg(abi_->ra));
    return;
  }
  if (const std::uint8_t reg = returns_after(instruction, before); reg != Effect::none)
    return after.set_reg(reg, before.reg(reg));
  State better = after;
  const CalleeIs callee =
      instruction.flow == Flow::call ? apply_callee(instruction, before, better) : CalleeIs::elsewhere;
  const bool answers_row = asks_for_row && !row_is_wrong(better);
  const bool answers_base = asks_for_base && !base_is_wrong(better);
  if (callee == CalleeIs::known && (answers_row || answers_base)) after = better;
  if (callee != CalleeIs::unclear || !asks_for_row) return;
  // Who wrote the row knew the callee: gcc -fipa-ra, assembly.
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg) {
    const Value value = before.reg(reg);
    if ((machine_->call_clobbered >> reg & 1) && (value.is_location() || value.base == Base::entry))
      after.set_reg(reg, Value::unknown());
  }
}

/// The state where a callee returns, if it is known.
const std::optional<State>& Analysis::analyse_callee(std::uint64_t target) {
  if (known_callee_ == target) return callee_returns_;
  known_callee_ = target;
  callee_returns_.reset();
  Environment& environment = *function_.environment;
  std::uint64_t start = environment.function_start(target);
  if (target - start >= max_callee_size) start = target;
  const auto bytes = environment.code(start, max_callee_size);
  if (bytes.size() <= target - start) return callee_returns_;
  if (!callee_) {
    callee_ = std::make_unique<Analysis>(*abi_);
    callee_->is_callee_ = true;
  }
  callee_->run({.start = start, .bytes = bytes, .entry = abi_->entry_row(), .entry_offset = target - start});
  callee_returns_ = callee_->state_at_returns();
  work_ += callee_->cost();
  return callee_returns_;
}

Analysis::CalleeIs Analysis::apply_callee(const Instruction& instruction, const State& before, State& after) {
  if (is_callee_ || !function_.environment || contains(instruction.target) ||
      function_.environment->code(instruction.target, 1).empty())
    return CalleeIs::elsewhere;
  const std::optional<State>& returned = analyse_callee(instruction.target);
  if (!returned) return CalleeIs::unclear;

  State caller = before;
  if (instruction.link_register != Effect::none)
    caller.set_reg(
        instruction.link_register,
        number(static_cast<std::int64_t>(instruction.address + instruction.length), function_.start));
  const Value sp = before.reg(abi_->sp);
  const std::int32_t pushed = abi_->fixed_ra_offset != 0 ? 8 : 0;
  const Value callee_cfa = plus(sp, std::int64_t{abi_->entry_cfa_offset} - pushed);
  const Value new_sp =
      plus(translated(returned->reg(abi_->sp), caller, callee_cfa), pushed); // the return pops
  if (!new_sp.is_location()) return CalleeIs::unclear;
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg) {
    const Value value = translated(returned->reg(reg), caller, callee_cfa);
    const bool is_preserved = !(machine_->call_clobbered >> reg & 1);
    // A preserved register whose value the analysis lost is assumed to be restored by the callee.
    if (is_preserved && !value.is_location() && value.base != Base::entry) continue;
    after.set_reg(reg, value);
  }
  after.set_reg(abi_->sp, new_sp);
  for (const Slot& slot : returned->slots())
    if (slot.location.base == Base::cfa)
      after.store(translated(slot.location, caller, callee_cfa), translated(slot.value, caller, callee_cfa));
  after.drop_below(new_sp);
  return CalleeIs::known;
}

/// Of a callee: the state at its returns, as far as they agree. Empty if it may leave in other ways, or is
/// not fully known.
std::optional<State> Analysis::state_at_returns() {
  if (!obstacles_.empty()) return std::nullopt;
  State returns;
  bool has_returned = false, is_known = true;
  const auto visitor = [&](const Reached& at) {
    return is_known = at.certainty == Certainty::certain && goes_back(at, returns, has_returned);
  };
  visit([](void* context, const Reached& at) { return (*static_cast<decltype(visitor)*>(context))(at); },
        const_cast<void*>(static_cast<const void*>(&visitor)));
  if (!is_known || !has_returned) return std::nullopt;
  return returns;
}

/// Joins the state at a return with those of others. False if control leaves to elsewhere.
bool Analysis::goes_back(const Reached& at, State& returns, bool& has_returned) const {
  const Flow flow = at.instruction.flow;
  const bool is_return =
      flow == Flow::ret || flow == Flow::conditional_return || returns_by_jump(at.instruction, at.state());
  if (!is_return) return at.exit == Exit::none || at.exit == Exit::stops;
  if (return_address(at.instruction, at.state()) != Value::entry(abi_->ra)) return false;
  if (!has_returned) {
    returns = at.state();
    has_returned = true;
    return true;
  }
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
    if (returns.reg(reg) != at.state().reg(reg)) returns.set_reg(reg, Value::other());
  for (std::size_t i = returns.slots().size(); i-- > 0;)
    if (at.state().word(returns.slots()[i].location) != returns.slots()[i].value) returns.remove_slot(i);
  return true;
}

} // namespace sframe::code
