// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each kind of value that an effect makes: copies, sums, masks, loads from tables; and for
// what it writes: registers, among them SP, and memory.

#include "transfer.h"

#include "values.h"

#include <algorithm>
#include <bit>

namespace sframe::code {
namespace {

using Base = Value::Base;
using Kind = Effect::Kind;

/// Symbols that State::at_entry() may use.
constexpr std::uint16_t first_free_symbol = 8;

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

/// plus(), also of what was read from a jump table.
Value moved(Value value, std::int64_t distance) {
  if (value.base != Base::table) return plus(value, distance);
  if (!fits_offset(distance) || !fits_offset(value.offset + distance)) return Value::other();
  value.offset = static_cast<std::int32_t>(value.offset + distance);
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

void Transfer::reset() {
  num_symbols_ = first_free_symbol;
}

/// reg := value. SP always has a value: if it cannot be followed, it becomes a symbol. `move`: alignment and
/// alloca are not reported as obstacles. What SP leaves below it, and below the red zone, is lost: a signal
/// may overwrite it, and the frame of what follows is made there. Where there are rows, they end with the
/// function, and may rest on such a word for an instruction.
void Transfer::write(std::uint8_t reg, Value value, Decoded& decoded, State& state, Move move) {
  if (state.compare.reg == reg || state.compare.source == reg) state.compare.reg = Effect::none;
  if (reg == subject_.abi.sp && !value.is_location()) {
    if (move == Move::anywhere) decoded.sp_lost = true;
    if (!decoded.symbol && num_symbols_ < std::numeric_limits<std::uint16_t>::max())
      decoded.symbol = num_symbols_++;
    const Value old = state.reg(reg);
    const bool is_below =
        move == Move::down && (old.base == Base::cfa || (old.base == Base::symbol && old.flag));
    state.forget(Base::symbol, decoded.symbol);
    value = {Base::symbol, is_below, decoded.symbol, 0};
  }
  const bool moves_up = reg == subject_.abi.sp && move != Move::down;
  if (moves_up && !subject_.has_rows())
    state.drop_below(
        plus(value, -std::int64_t{std::max(subject_.machine.red_zone, subject_.function.kept_below_sp)}));
  state.set_reg(reg, value);
}

/// value + source * factor.
Value Transfer::sum(const Value& value, const Effect& effect, const State& state) {
  if (effect.source == Effect::none) return moved(value, effect.value);
  const Value source = state.reg(effect.source);
  if (source.base == Base::table || value.base == Base::table) {
    const bool entry_is_source = source.base == Base::table;
    const Value& entry = entry_is_source ? source : value;
    const Value& base = entry_is_source ? value : source;
    if (!is_number(base) || (!entry_is_source && effect.value != 1)) return Value::other();
    if (effect.value != 1 && entry.offset != 0) return Value::other();
    return tables_.add_base(entry, base, effect.value);
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

Value Transfer::masked(const Value& value, std::int64_t mask) const {
  if (value.base == Base::constant && fits_offset(value.offset & mask))
    return {Base::constant, false, 0, static_cast<std::int32_t>(value.offset & mask)};
  if (mask >= 0) {
    if (value.base == Base::bounded && keeps_multiples(value, mask)) return value;
    return bounded(mask, false);
  }
  if (mask >= -std::int64_t{subject_.machine.stack_alignment} && value.base == Base::cfa &&
      (value.offset & ~mask) == 0)
    return value;
  return Value::other();
}

/// The value of a load from a table of constants: records which table it came from.
Value Transfer::from_table(const Effect& effect, Decoded& decoded, const State& state) {
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
  return tables_.load(effect, decoded, base, index);
}

/// source + value. If that is a plain copy, both registers get a common name, so that a later compare of one
/// bounds the other.
Value Transfer::copied(const Effect& effect, std::uint32_t index, State& state) {
  if (effect.source == Effect::none) return number(effect.value, subject_.function.start);
  Value value = state.reg(effect.source);
  const bool is_narrow = effect.size && effect.size < 8;
  const bool is_copy = effect.value == 0 && (!is_narrow || effect.size == 4);
  if (value.base == Base::other && is_copy) {
    if (value.id) return value;
    const auto name = static_cast<std::uint16_t>(1 + index % 0xffff);
    for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg)
      if (state.reg(reg).base == Base::other && state.reg(reg).id == name) state.set_reg(reg, Value::other());
    value.id = name;
    if (effect.source != subject_.abi.sp) state.set_reg(effect.source, value);
    return value;
  }
  if (value.base == Base::bounded && is_copy && !name_of(value)) {
    value = newly_named(value, index, state, subject_.machine.num_registers);
    state.set_reg(effect.source, value);
  }
  if (value.base == Base::table && is_narrow && effect.value == 0)
    return tables_.extend(value, effect.size, effect.is_signed);
  value = is_narrow ? plus(value, effect.value) : moved(value, effect.value);
  return is_narrow ? narrowed(value, effect.size, effect.is_signed) : value;
}

/// True if a function stores a register over its return address, on top of the stack: what follows is a
/// return to elsewhere (the end of ld.lld's retpolines, which stubs call: `mov %r11,(%rsp); ret`). Where
/// there are rows, they tell.
bool Transfer::replaces_own_return_address(const Effect& effect, const Value& location) const {
  return subject_.abi.fixed_ra_offset != 0 && !subject_.has_rows() && effect.kind == Kind::store &&
         effect.source == subject_.abi.sp && effect.value == 0 &&
         location == Value::cfa(subject_.abi.fixed_ra_offset);
}

/// Stores through unknown pointers are assumed not to hit the frame. Known pointers other than SP and FP walk
/// through arrays, and the analysis follows them a few steps further than the program does: they do not write
/// saved registers. Nor does a store destroy the only copy of a value to restore. Such a store is on a path
/// that is never taken (cases of a copy too large for the object), or belongs to __builtin_eh_return, which
/// overwrites the return address. (A register stored where the first row has it saved already is saved there:
/// the row was wrong.)
void Transfer::write_memory(const Effect& effect, const Value& location, State& state) const {
  if (!location.is_location()) return;
  const std::uint32_t size = effect.size ? effect.size : 8;
  const bool by_frame = effect.source == subject_.abi.sp || effect.source == subject_.abi.fp;
  const bool is_missed = by_frame
                             ? state.has_only_copy(location, size, state.reg(subject_.abi.sp), effect.reg)
                             : state.has_saved_register(location, size);
  if (is_missed && !replaces_own_return_address(effect, location)) return;
  state.last_store = location;
  if (effect.kind == Kind::store)
    state.store(location, state.reg(effect.reg));
  else
    state.overwrite(location, size);
}

void Transfer::apply(const Effect& effect, std::uint32_t index, Decoded& decoded, State& state) {
  const auto source = [&] {
    return effect.source == Effect::none ? number(effect.value, subject_.function.start)
                                         : plus(state.reg(effect.source), effect.value);
  };
  switch (effect.kind) {
  case Kind::set: return write(effect.reg, copied(effect, index, state), decoded, state);
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
  case Kind::load_table: return write(effect.reg, from_table(effect, decoded, state), decoded, state);
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
void Transfer::return_from_call(const Instruction& instruction, State& state) const {
  const Value sp = state.reg(subject_.abi.sp);
  state.drop_below(plus(sp, -std::int64_t{subject_.function.kept_below_sp}));
  const std::uint8_t link = instruction.link_register;
  const bool by_other_register = link != Effect::none && link != subject_.abi.ra;
  const auto is_preserved = [&](std::uint16_t reg, const Value& value) {
    if (value.base == Base::shadow)
      return signed_value(state.word(plus(value, -8)), false) == Value::entry(subject_.abi.ra);
    return by_other_register && reg != link && (value.is_location() || value.base == Base::entry);
  };
  const Value lost = subject_.is_callee ? Value::unknown() : Value::other();
  for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg)
    if ((subject_.machine.call_clobbered >> reg & 1) && !is_preserved(reg, state.reg(reg)))
      state.set_reg(reg, lost);
  state.compare.reg = Effect::none;
}

/// A call to a place in the same function leaves a return address and changes nothing else.
void Transfer::enter_internal_call(const Instruction& instruction, State& state) const {
  const auto return_address = static_cast<std::int64_t>(instruction.address + instruction.length);
  if (instruction.link_register != Effect::none)
    return state.set_reg(instruction.link_register, number(return_address, subject_.function.start));
  const Value below = plus(state.reg(subject_.abi.sp), -8);
  state.overwrite(below, 8);
  state.set_reg(subject_.abi.sp, below);
}

} // namespace sframe::code
