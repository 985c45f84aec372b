// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks, in this order, until one answers: does the row after the call contradict an ABI callee; does the
// code there show that the callee restarts the function, or keeps the return address in a register; what do
// the registers hold at the callee's own returns.

#include "callee_effects.h"

#include "analysis.h"
#include "exits.h"
#include "values.h"

#include "sframe/base/address_ranges.h"
#include "sframe/code/row_check.h"

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

/// Joins the state at a return with those of others. False if control leaves to elsewhere.
bool goes_back(const Reached& at, const AbiTraits& abi, std::optional<State>& returns) {
  const Flow flow = at.instruction.flow;
  const bool is_return = flow == Flow::ret || flow == Flow::conditional_return ||
                         returns_by_jump(at.instruction, at.state(), abi);
  if (!is_return) return at.exit == Exit::none || at.exit == Exit::stops;
  if (return_address(at.instruction, at.state(), abi) != Value::entry(abi.ra)) return false;
  if (!returns) {
    returns = at.state();
    return true;
  }
  for (std::uint16_t reg = 0; reg < machine(abi).num_registers; ++reg)
    if (returns->reg(reg) != at.state().reg(reg)) returns->set_reg(reg, Value::other());
  for (std::size_t i = returns->slots().size(); i-- > 0;)
    if (at.state().word(returns->slots()[i].location) != returns->slots()[i].value) returns->remove_slot(i);
  return true;
}

/// The state at a callee's returns, as far as they agree. Empty if it may leave in other ways, or is not
/// fully known.
std::optional<State> state_at_returns(Answers& answers, const AbiTraits& abi) {
  if (!answers.obstacles().empty()) return std::nullopt;
  std::optional<State> returns;
  bool is_known = true;
  answers.visit([&](const Reached& at) {
    return is_known = at.certainty == Certainty::certain && goes_back(at, abi, returns);
  });
  return is_known ? returns : std::nullopt;
}

} // namespace

CalleeEffects::CalleeEffects(const Subject& subject, const Instructions& instructions, Effort& effort)
    : subject_(subject), code_(instructions), effort_(effort) {}

CalleeEffects::~CalleeEffects() = default;

/// The row after a call if it depends on more than what every callee preserves: if it is a new row, or if it
/// uses a register that calls clobber.
const FrameRow* CalleeEffects::row_of_callee(std::uint64_t next) const {
  const std::uint64_t offset = subject_.offset_of(next);
  const FrameRow* const found = last_not_above(subject_.function.rows, offset, &FrameRow::offset);
  if (!found) return nullptr;
  const FrameRow& row = *found;
  const auto is_clobbered = [&](std::uint16_t reg) {
    return reg < subject_.machine.num_registers && subject_.machine.call_clobbered >> reg & 1;
  };
  const auto rests_on_callee = [&](const Rule& rule, std::uint16_t own_register) {
    switch (rule.kind) {
    case Rule::Kind::same: return is_clobbered(own_register);
    case Rule::Kind::value:
    case Rule::Kind::stored: return rule.base != Rule::cfa_base && is_clobbered(rule.base);
    default: return false;
    }
  };
  const bool asks = row.offset == offset || rests_on_callee(row.cfa, subject_.abi.sp) ||
                    rests_on_callee(row.ra, subject_.abi.ra) || rests_on_callee(row.fp, subject_.abi.fp);
  return asks ? &row : nullptr;
}

/// The first row near a call's return that computes the CFA from a register other than SP. An out-of-line
/// prologue may set that register up, and the row may start only after SP was moved.
const FrameRow* CalleeEffects::next_row_with_base(std::uint64_t next) const {
  constexpr std::uint64_t near = 64;
  const std::uint64_t offset = subject_.offset_of(next);
  auto row = std::ranges::upper_bound(subject_.function.rows, offset, {}, &FrameRow::offset);
  for (; row != subject_.function.rows.end() && row->offset - offset <= near; ++row)
    if (row->cfa.kind != Rule::Kind::value || row->cfa.base != subject_.abi.sp)
      return row->cfa.kind == Rule::Kind::value ? &*row : nullptr;
  return nullptr;
}

/// The first instruction at or after `address` that does not continue to the next one, if nothing before it
/// writes `reg` or SP; nullptr if there is none nearby.
const Instruction* CalleeEffects::leaves_with(std::uint64_t address, std::uint8_t reg) {
  for (int i = 0; i < max_reloads; ++i) {
    effort_.add();
    const std::uint32_t index = code_.at(address);
    if (index == no_index || code_[index].bad) return nullptr;
    const Decoded& decoded = code_[index];
    for (const Effect& effect : code_.effects(decoded)) {
      const bool writes_register = effect.kind != Effect::Kind::store &&
                                   effect.kind != Effect::Kind::overwrite &&
                                   effect.kind != Effect::Kind::compare;
      if (writes_register && (effect.reg == reg || effect.reg == subject_.abi.sp)) return nullptr;
    }
    if (decoded.instruction.flow != Flow::next) return &decoded.instruction;
    address += decoded.instruction.length;
  }
  return nullptr;
}

/// Go functions request a larger stack first: with the return address in a register they call
/// runtime.morestack, which restarts them with all registers unchanged. After the call they reload arguments
/// and jump to their own start. No other callee restores the link register.
bool CalleeEffects::restarts_the_function(const Instruction& call, const State& before) {
  const std::uint8_t link = call.link_register;
  if (link == Effect::none || link != subject_.abi.ra || subject_.function.entry.ra.kind != Rule::Kind::same)
    return false;
  bool is_kept = false;
  for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg)
    is_kept |= reg != link && signed_value(before.reg(reg), false) == Value::entry(link);
  const Instruction* last = is_kept ? leaves_with(call.address + call.length, link) : nullptr;
  return last && last->flow == Flow::jump && last->target == subject_.function.start;
}

/// If the next control transfer is a return to a register that had the return address before the call, the
/// callee preserves that register: a convention between assembly functions. Returns the register, or none.
std::uint8_t CalleeEffects::returns_after(const Instruction& call, const State& before) {
  if (call.link_register == Effect::none) return Effect::none;
  for (std::uint8_t reg = 0; reg < subject_.machine.num_registers; ++reg) {
    if (reg == call.link_register || signed_value(before.reg(reg), false) != Value::entry(subject_.abi.ra))
      continue;
    const Instruction* last = leaves_with(call.address + call.length, reg);
    if (last && last->flow == Flow::ret && last->jump_register == reg) return reg;
  }
  return Effect::none;
}

void CalleeEffects::refine(const Instruction& call, const State& before, State& after) {
  if (!subject_.has_rows()) return;
  const std::uint64_t next = call.address + call.length;
  if (!subject_.contains(next)) return;
  const FrameRow *row = row_of_callee(next), *base_row = next_row_with_base(next);
  const auto row_is_wrong = [&](const State& state) {
    return row && check(*row, state, subject_.abi).worst() == Agreement::contradicts;
  };
  const auto base_is_wrong = [&](const State& state) {
    return base_row && check(*base_row, state, subject_.abi).cfa.agreement == Agreement::contradicts;
  };
  const bool asks_for_row = row_is_wrong(after), asks_for_base = base_is_wrong(after);
  if (!asks_for_row && !asks_for_base) return;
  if (restarts_the_function(call, before)) {
    const State entry = State::at_entry(subject_.function.entry, subject_.abi, subject_.machine);
    after.set_reg(subject_.abi.ra, entry.reg(subject_.abi.ra));
    return;
  }
  if (const std::uint8_t reg = returns_after(call, before); reg != Effect::none)
    return after.set_reg(reg, before.reg(reg));
  State better = after;
  const CalleeIs callee = call.flow == Flow::call ? apply(call, before, better) : CalleeIs::elsewhere;
  const bool answers_row = asks_for_row && !row_is_wrong(better);
  const bool answers_base = asks_for_base && !base_is_wrong(better);
  if (callee == CalleeIs::known && (answers_row || answers_base)) after = better;
  if (callee != CalleeIs::unclear || !asks_for_row) return;
  // Who wrote the row knew the callee: gcc -fipa-ra, assembly.
  for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg) {
    const Value value = before.reg(reg);
    if ((subject_.machine.call_clobbered >> reg & 1) && (value.is_location() || value.base == Base::entry))
      after.set_reg(reg, Value::unknown());
  }
}

/// The state where a callee returns, if it is known.
const std::optional<State>& CalleeEffects::analyse(std::uint64_t target) {
  if (known_callee_ == target) return returned_;
  known_callee_ = target;
  returned_.reset();
  Environment& environment = *subject_.function.environment;
  std::uint64_t start = environment.function_start(target);
  if (target - start >= max_callee_size) start = target;
  const auto bytes = environment.code(start, max_callee_size);
  if (bytes.size() <= target - start) return returned_;
  if (!analysis_) analysis_ = std::make_unique<Analysis>(subject_.abi, Analysis::Of::callees);
  analysis_->run({.start = start,
                  .bytes = bytes,
                  .entry = subject_.abi.entry_row(),
                  .entry_offset = target - start,
                  .kept_below_sp = subject_.function.kept_below_sp});
  returned_ = state_at_returns(analysis_->answers(), subject_.abi);
  effort_.add(analysis_->cost());
  return returned_;
}

CalleeEffects::CalleeIs CalleeEffects::apply(const Instruction& call, const State& before, State& after) {
  if (subject_.is_callee || !subject_.function.environment || subject_.contains(call.target) ||
      subject_.function.environment->code(call.target, 1).empty())
    return CalleeIs::elsewhere;
  const std::optional<State>& returned = analyse(call.target);
  if (!returned) return CalleeIs::unclear;

  State caller = before;
  if (call.link_register != Effect::none)
    caller.set_reg(call.link_register,
                   number(static_cast<std::int64_t>(call.address + call.length), subject_.function.start));
  const Value sp = before.reg(subject_.abi.sp);
  const std::int32_t pushed = subject_.abi.fixed_ra_offset != 0 ? 8 : 0;
  const Value callee_cfa = plus(sp, std::int64_t{subject_.abi.entry_cfa_offset} - pushed);
  const Value new_sp =
      plus(translated(returned->reg(subject_.abi.sp), caller, callee_cfa), pushed); // the return pops
  if (!new_sp.is_location()) return CalleeIs::unclear;
  for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg) {
    const Value value = translated(returned->reg(reg), caller, callee_cfa);
    const bool is_preserved = !(subject_.machine.call_clobbered >> reg & 1);
    // A preserved register whose value the analysis lost is assumed to be restored by the callee.
    if (is_preserved && !value.is_location() && value.base != Base::entry) continue;
    after.set_reg(reg, value);
  }
  after.set_reg(subject_.abi.sp, new_sp);
  for (const Slot& slot : returned->slots())
    if (slot.location.base == Base::cfa)
      after.store(translated(slot.location, caller, callee_cfa), translated(slot.value, caller, callee_cfa));
  after.drop_below(plus(new_sp, -std::int64_t{subject_.function.kept_below_sp}));
  return CalleeIs::known;
}

} // namespace sframe::code
