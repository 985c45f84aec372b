// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "branch.h"

#include "values.h"

namespace sframe::code {
namespace {

using Base = Value::Base;

/// True if SP, decreasing to a limit in the steps of a loop, reaches the limit exactly and has not passed it.
bool steps_meet(const Value& sp, const Value& limit, std::span<const Conflict> conflicts) {
  if (limit.base != Base::cfa) return false;
  if (sp.base == Base::cfa) return sp.offset > limit.offset; // the first step: more will follow
  if (sp.base != Base::conflict) return false;
  const Value first = conflicts[sp.id].first, second = conflicts[sp.id].second;
  if (first.base != Base::cfa || second.base != Base::cfa) return false;
  const std::int64_t step = std::int64_t{first.offset} - second.offset;
  return step > 0 && first.offset > limit.offset && (std::int64_t{first.offset} - limit.offset) % step == 0;
}

/// After a compare of SP with another register. A loop that moves SP down to a limit ends where SP is at the
/// limit; one that moves a pointer down to SP, where the pointer is. False if both are known and cannot be
/// equal as the branch requires: a loop has yet to get there.
bool refine_sp(const Instruction& branch, bool taken, State& state, std::uint16_t sp_register,
               std::span<const Conflict> conflicts) {
  const State::Compare compare = state.compare;
  const std::uint8_t other = compare.reg == sp_register ? compare.source : compare.reg;
  const Value sp = state.reg(sp_register), limit = state.reg(other);
  const bool equal = taken ? branch.condition == Condition::equal : branch.condition == Condition::not_equal;
  if (equal && limit.base == Base::cfa) {
    if (sp.base == Base::cfa) return sp == limit;
    state.set_reg(sp_register, limit);
  } else if (equal && limit.base == Base::conflict) {
    state.set_reg(other, sp);
  }
  const bool not_above =
      taken ? branch.condition == Condition::below_or_equal : branch.condition == Condition::above;
  if (not_above && compare.reg == sp_register && steps_meet(sp, limit, conflicts))
    state.set_reg(sp_register, limit);
  return true;
}

/// After a compare of a register with a number.
void refine_bound(const Instruction& branch, bool taken, State& state, std::uint16_t num_registers) {
  const State::Compare compare = state.compare;
  if (compare.value < 0 || compare.value > max_index) return;
  std::int64_t limit = -1;
  switch (branch.condition) {
  case Condition::above: limit = taken ? -1 : compare.value; break;
  case Condition::above_or_equal: limit = taken ? -1 : compare.value - 1; break;
  case Condition::below: limit = taken ? compare.value - 1 : -1; break;
  case Condition::below_or_equal: limit = taken ? compare.value : -1; break;
  default: return;
  }
  Value bound = bounded(limit, true);
  const Value old = state.reg(compare.reg);
  if (bound.base != Base::bounded || old.base == Base::constant || old.is_location()) return;
  if (old.base == Base::bounded && step_of(old) == 1 && old.flag && old.offset <= bound.offset) return;
  const bool has_copies = (old.base == Base::other && old.id) || (old.base == Base::bounded && name_of(old));
  if (has_copies)
    bound = old.base == Base::other ? newly_named(bound, old.id, state, num_registers)
                                    : named(bound, name_of(old));
  state.set_reg(compare.reg, bound);
  if (!has_copies) return;
  for (std::uint16_t reg = 0; reg < num_registers; ++reg)
    if (state.reg(reg) == old) state.set_reg(reg, bound);
}

} // namespace

bool refine(const Instruction& branch, bool taken, State& state, const Subject& subject,
            std::span<const Conflict> conflicts) {
  const State::Compare compare = state.compare;
  if (compare.reg == Effect::none) return true;
  if (compare.source != Effect::none) {
    const bool has_sp = compare.reg == subject.abi.sp || compare.source == subject.abi.sp;
    return !has_sp || refine_sp(branch, taken, state, subject.abi.sp, conflicts);
  }
  refine_bound(branch, taken, state, subject.machine.num_registers);
  return true;
}

} // namespace sframe::code
