// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies an instruction to a state.

#include "engine.h"
#include "values.h"

#include <algorithm>
#include <bit>

namespace sframe::code {
namespace {

using Base = Value::Base;
using Kind = Effect::Kind;

/// Indexes of jump tables are below this; larger limits are not bounds.
constexpr std::int64_t max_index = 1 << 20;
/// Bytes from one entry to the next.
constexpr std::int64_t max_step = 256;

Value bounded(std::int64_t limit, bool is_firm, std::int64_t step = 1) {
  if (limit < 0 || limit > max_index || step <= 0 || step > max_step) return Value::other();
  return {Base::bounded, is_firm, static_cast<std::uint16_t>(step), static_cast<std::int32_t>(limit)};
}

/// A place in the frame, moved by eighths of a vector's length: a frame with vectors of unknown length is as
/// large when it is released as when it was made.
Value plus_vectors(Value value, std::int64_t eighths) {
  if (value.base != Base::cfa && value.base != Base::scaled) return Value::other();
  const std::int64_t sum = eighths + (value.base == Base::scaled ? static_cast<std::int16_t>(value.id) : 0);
  if (sum != static_cast<std::int16_t>(sum)) return Value::other();
  value.base = sum ? Base::scaled : Base::cfa;
  value.id = static_cast<std::uint16_t>(sum);
  return value;
}

/// True if a mask changes none of an index's values, which are multiples of a step up to a limit.
bool keeps_multiples(const Value& index, std::int64_t mask) {
  const std::int64_t step = step_of(index), largest = index.offset * step;
  if (step == 1) return largest <= mask; // or reduces them: the limit holds
  const std::int64_t filled = mask | (step - 1);
  return std::has_single_bit(step_of(index)) && (filled & (filled + 1)) == 0 && largest <= mask;
}

} // namespace

/// reg := value. SP always has a value: if it cannot be followed, it becomes a symbol. `move`: alignment and
/// alloca are not reported as obstacles. What SP leaves below it, and below the red zone, is lost: a signal
/// may overwrite it, and the frame of what follows is made there. Where there are rows, they end with the
/// function, and may rest on such a word for an instruction.
void Analysis::write(std::uint8_t reg, Value value, Decoded& decoded, State& state, Move move) {
  if (state.compare.reg == reg || state.compare.source == reg) state.compare.reg = Effect::none;
  if (reg == abi_->sp && !value.is_location()) {
    if (move == Move::anywhere) decoded.sp_lost = true;
    if (!decoded.symbol && num_symbols_ < std::numeric_limits<std::uint16_t>::max())
      decoded.symbol = num_symbols_++;
    const Value old = state.reg(reg);
    const bool is_below =
        move == Move::down && (old.base == Base::cfa || (old.base == Base::symbol && old.flag));
    state.forget(Base::symbol, decoded.symbol);
    value = {Base::symbol, is_below, decoded.symbol, 0};
  }
  const bool moves_up = reg == abi_->sp && move != Move::down;
  if (moves_up && function_.rows.empty()) state.drop_below(plus(value, -std::int64_t{machine_->red_zone}));
  state.set_reg(reg, value);
}

/// value + source * factor.
Value Analysis::sum(const Value& value, const Effect& effect, const State& state) {
  if (effect.source == Effect::none) return plus(value, effect.value);
  const Value source = state.reg(effect.source);
  if (source.base == Base::table || value.base == Base::table) {
    const bool entry_is_source = source.base == Base::table;
    const Value& entry = entry_is_source ? source : value;
    const Value& base = entry_is_source ? value : source;
    if (!is_number(base) || (!entry_is_source && effect.value != 1)) return Value::other();
    JumpTable& table = tables_[entry.id];
    table.base = number_of(base, function_.start);
    table.factor = effect.value;
    return entry;
  }
  if (source.base == Base::bounded && effect.value > 0 && effect.value < max_step) {
    if (effect.reg == effect.source)
      return bounded(source.offset, source.flag, step_of(source) * (effect.value + 1));
    if (value.base == Base::constant && value.offset == 0)
      return bounded(source.offset, source.flag, step_of(source) * effect.value);
  }
  std::int64_t product = 0;
  if (source.base == Base::constant && !__builtin_mul_overflow(effect.value, source.offset, &product))
    return plus(value, product);
  if (effect.value == 1 && value.base == Base::constant && source.is_location())
    return plus(source, value.offset);
  return Value::other();
}

Value Analysis::masked(const Value& value, std::int64_t mask) const {
  if (value.base == Base::constant && fits_offset(value.offset & mask))
    return {Base::constant, false, 0, static_cast<std::int32_t>(value.offset & mask)};
  if (mask >= 0) {
    if (value.base == Base::bounded && keeps_multiples(value, mask)) return value;
    return bounded(mask, false);
  }
  if (mask >= -std::int64_t{machine_->stack_alignment} && value.base == Base::cfa &&
      (value.offset & ~mask) == 0)
    return value;
  return Value::other();
}

/// The value of a load from a table of constants: records which table it came from.
Value Analysis::table_entry(const Effect& effect, Decoded& decoded, const State& state) {
  const auto operand = [&](std::uint8_t reg) {
    return reg == Effect::none ? Value{Base::constant, false, 0, 0} : state.reg(reg);
  };
  Value base = operand(effect.source), index = operand(effect.index);
  if (!is_number(base) && effect.scale == 1) std::swap(base, index);
  const auto may_be_stack = [](const Value& value) {
    return value.is_location() || value.base == Base::unknown;
  };
  const bool is_word = effect.size == 0 || effect.size == 8;
  if (is_word && (may_be_stack(base) || may_be_stack(index))) return Value::unknown(); // any word of it
  if (!is_number(base)) return effect.size == 1 && !effect.is_signed ? bounded(255, false) : Value::other();
  if (decoded.table == no_index) {
    if (tables_.size() > std::numeric_limits<std::uint16_t>::max()) return Value::other();
    decoded.table = static_cast<std::uint32_t>(tables_.size());
    tables_.emplace_back();
  }
  const bool is_bounded = index.base == Base::bounded;
  JumpTable& table = tables_[decoded.table];
  table = {.address = number_of(base, function_.start) + static_cast<std::uint64_t>(effect.value),
           .max_index = is_bounded ? static_cast<std::uint32_t>(index.offset) : no_index,
           .step = is_bounded ? std::uint32_t{step_of(index)} * effect.scale
                              : std::max<std::uint32_t>(effect.scale, effect.size),
           .size = effect.size ? effect.size : std::uint8_t{8},
           .is_signed = effect.is_signed,
           .is_bound_firm = is_bounded && index.flag};
  return {Base::table, false, static_cast<std::uint16_t>(decoded.table), 0};
}

/// A bounded index with a name that is unique in the state.
Value Analysis::new_name(const Value& value, std::uint64_t number, State& state) const {
  constexpr std::uint64_t num_names = 0xffff / bounded_names;
  const auto name = static_cast<std::uint16_t>(1 + number % num_names);
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
    if (const Value old = state.reg(reg); old.base == Base::bounded && name_of(old) == name)
      state.set_reg(reg, named(old, 0));
  return named(value, name);
}

/// source + value. If that is a plain copy, both registers get a common name, so that a later compare of one
/// bounds the other.
Value Analysis::copied(const Effect& effect, const Decoded& decoded, State& state) {
  if (effect.source == Effect::none) return number(effect.value, function_.start);
  Value value = state.reg(effect.source);
  const bool is_narrow = effect.size && effect.size < 8;
  const bool is_copy = effect.value == 0 && (!is_narrow || effect.size == 4);
  if (value.base == Base::other && is_copy) {
    if (value.id) return value;
    const auto name = static_cast<std::uint16_t>(1 + (&decoded - code_.data()) % 0xffff);
    for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
      if (state.reg(reg).base == Base::other && state.reg(reg).id == name) state.set_reg(reg, Value::other());
    value.id = name;
    if (effect.source != abi_->sp) state.set_reg(effect.source, value);
    return value;
  }
  if (value.base == Base::bounded && is_copy && !name_of(value)) {
    value = new_name(value, static_cast<std::uint64_t>(&decoded - code_.data()), state);
    state.set_reg(effect.source, value);
  }
  if (value.base == Base::table && is_narrow && effect.value == 0) { // an entry, extended
    JumpTable& table = tables_[value.id];
    if (effect.size < table.size) return Value::other();
    if (effect.size == table.size && effect.is_signed) table.is_signed = true;
    return value;
  }
  value = plus(value, effect.value);
  return is_narrow ? narrowed(value, effect.size, effect.is_signed) : value;
}

/// True if a function stores a register over its return address, on top of the stack: what follows is a
/// return to elsewhere (the end of ld.lld's retpolines, which stubs call: `mov %r11,(%rsp); ret`). Where
/// there are rows, they tell.
bool Analysis::replaces_own_return_address(const Effect& effect, const Value& location) const {
  return abi_->fixed_ra_offset != 0 && function_.rows.empty() && effect.kind == Kind::store &&
         effect.source == abi_->sp && effect.value == 0 && location == Value::cfa(abi_->fixed_ra_offset);
}

/// Stores through unknown pointers are assumed not to hit the frame. Known pointers other than SP and FP walk
/// through arrays, and the analysis follows them a few steps further than the program does: they do not write
/// saved registers. Nor does a store destroy the only copy of a value to restore. Such a store is on a path
/// that is never taken (cases of a copy too large for the object), or belongs to __builtin_eh_return, which
/// overwrites the return address. (A register stored where the first row has it saved already is saved there:
/// the row was wrong.)
void Analysis::write_memory(const Effect& effect, const Value& location, State& state) const {
  if (!location.is_location()) return;
  const std::uint32_t size = effect.size ? effect.size : 8;
  const bool by_frame = effect.source == abi_->sp || effect.source == abi_->fp;
  const bool is_missed = by_frame ? state.has_only_copy(location, size, state.reg(abi_->sp), effect.reg)
                                  : state.has_saved_register(location, size);
  if (is_missed && !replaces_own_return_address(effect, location)) return;
  state.last_store = location;
  if (effect.kind == Kind::store)
    state.store(location, state.reg(effect.reg));
  else
    state.overwrite(location, size);
}

void Analysis::apply(const Effect& effect, Decoded& decoded, State& state) {
  const auto source = [&] {
    return effect.source == Effect::none ? number(effect.value, function_.start)
                                         : plus(state.reg(effect.source), effect.value);
  };
  switch (effect.kind) {
  case Kind::set: return write(effect.reg, copied(effect, decoded, state), decoded, state);
  case Kind::add:
    return write(effect.reg, sum(state.reg(effect.reg), effect, state), decoded, state,
                 effect.value < 0 ? Move::down : Move::up);
  case Kind::add_vectors:
    return write(effect.reg, plus_vectors(state.reg(effect.source), effect.value), decoded, state,
                 effect.value < 0 ? Move::down : Move::up);
  case Kind::align:
    return write(effect.reg, masked(state.reg(effect.reg), effect.value), decoded, state, Move::down);
  case Kind::load: {
    const Value location = source();
    const bool may_be_stack = location.is_location() || location.base == Base::unknown;
    return write(effect.reg, may_be_stack ? state.word(location) : Value::other(), decoded, state);
  }
  case Kind::load_table: return write(effect.reg, table_entry(effect, decoded, state), decoded, state);
  case Kind::store:
  case Kind::overwrite: return write_memory(effect, source(), state);
  case Kind::clobber: return write(effect.reg, Value::other(), decoded, state);
  case Kind::mask: // what is hardened so against wrong speculation is an address, and not 0
    if (state.reg(effect.source).base == Base::mask) return;
    return write(effect.reg, Value::other(), decoded, state, Move::down);
  case Kind::or_zero: {
    const Value value = state.reg(effect.reg);
    const bool is_mask = value.base == Base::mask || (value.base == Base::constant && value.offset == -1);
    return write(effect.reg, is_mask ? Value{Base::mask, false, 0, 0} : Value::other(), decoded, state);
  }
  case Kind::sign: {
    Value value = signed_value(state.reg(effect.reg));
    if (effect.value != 0 && value.base == Base::entry) value.offset = with_address;
    return state.set_reg(effect.reg, value);
  }
  case Kind::authenticate: return state.set_reg(effect.reg, authenticated(state.reg(effect.reg)));
  case Kind::add_address: {
    Value value = state.reg(effect.reg);
    if (value.base == Base::entry && !value.flag) value.offset = with_address;
    return state.set_reg(effect.reg, value);
  }
  case Kind::compare: state.compare = {effect.reg, effect.source, effect.value}; return;
  }
}

/// The state after a callee returns. Memory below SP is the callee's stack. A callee that returns by another
/// register than the ABI's has a convention of its own (s390x: `brasl %r0,__fentry__` before the return
/// address is saved): it preserves what the function needs. So does any callee with a shadow call stack, if
/// the function has used that: its return address is there. Callees of callees often have conventions of
/// their own, too.
void Analysis::call(const Decoded& decoded, State& state) {
  const Value sp = state.reg(abi_->sp);
  state.drop_below(sp);
  const std::uint8_t link = decoded.instruction.link_register;
  const bool by_other_register = link != Effect::none && link != abi_->ra;
  const auto is_preserved = [&](std::uint16_t reg, const Value& value) {
    if (value.base == Base::shadow)
      return signed_value(state.word(plus(value, -8)), false) == Value::entry(abi_->ra);
    return by_other_register && reg != link && (value.is_location() || value.base == Base::entry);
  };
  const Value lost = is_callee_ ? Value::unknown() : Value::other();
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
    if ((machine_->call_clobbered >> reg & 1) && !is_preserved(reg, state.reg(reg))) state.set_reg(reg, lost);
  state.compare.reg = Effect::none;
}

/// A call to a place in the same function leaves a return address and changes nothing else.
void Analysis::enter_internal_call(const Decoded& decoded, State& state) const {
  const Instruction& instruction = decoded.instruction;
  const auto return_address = static_cast<std::int64_t>(instruction.address + instruction.length);
  if (instruction.link_register != Effect::none)
    return state.set_reg(instruction.link_register, number(return_address, function_.start));
  const Value below = plus(state.reg(abi_->sp), -8);
  state.overwrite(below, 8);
  state.set_reg(abi_->sp, below);
}

/// True if SP, decreasing to a limit in the steps of a loop, reaches the limit exactly and has not passed it.
bool Analysis::steps_meet(const Value& sp, const Value& limit) const {
  if (limit.base != Base::cfa) return false;
  if (sp.base == Base::cfa) return sp.offset > limit.offset; // the first step: more will follow
  if (sp.base != Base::conflict) return false;
  const Value first = conflicts_[sp.id].first, second = conflicts_[sp.id].second;
  if (first.base != Base::cfa || second.base != Base::cfa) return false;
  const std::int64_t step = std::int64_t{first.offset} - second.offset;
  return step > 0 && first.offset > limit.offset && (std::int64_t{first.offset} - limit.offset) % step == 0;
}

/// After a compare of SP with another register. A loop that moves SP down to a limit ends where SP is at the
/// limit; one that moves a pointer down to SP, where the pointer is. False if both are known and cannot be
/// equal as the branch requires: a loop has yet to get there.
bool Analysis::refine_sp(const Instruction& branch, bool taken, State& state) const {
  const State::Compare compare = state.compare;
  const std::uint8_t other = compare.reg == abi_->sp ? compare.source : compare.reg;
  const Value sp = state.reg(abi_->sp), limit = state.reg(other);
  const bool equal = taken ? branch.condition == Condition::equal : branch.condition == Condition::not_equal;
  if (equal && limit.base == Base::cfa) {
    if (sp.base == Base::cfa) return sp == limit;
    state.set_reg(abi_->sp, limit);
  } else if (equal && limit.base == Base::conflict) {
    state.set_reg(other, sp);
  }
  const bool not_above =
      taken ? branch.condition == Condition::below_or_equal : branch.condition == Condition::above;
  if (not_above && compare.reg == abi_->sp && steps_meet(sp, limit)) state.set_reg(abi_->sp, limit);
  return true;
}

/// Refines the state on one side of a branch. False if the branch cannot go there.
bool Analysis::refine(const Instruction& branch, bool taken, State& state) const {
  const State::Compare compare = state.compare;
  if (compare.reg == Effect::none) return true;
  if (compare.source != Effect::none) {
    const bool has_sp = compare.reg == abi_->sp || compare.source == abi_->sp;
    return !has_sp || refine_sp(branch, taken, state);
  }
  refine_bound(branch, taken, state);
  return true;
}

/// After a compare of a register with a number.
void Analysis::refine_bound(const Instruction& branch, bool taken, State& state) const {
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
    bound = old.base == Base::other ? new_name(bound, old.id, state) : named(bound, name_of(old));
  state.set_reg(compare.reg, bound);
  if (!has_copies) return;
  for (std::uint16_t reg = 0; reg < machine_->num_registers; ++reg)
    if (state.reg(reg) == old) state.set_reg(reg, bound);
}

} // namespace sframe::code
