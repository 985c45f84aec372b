// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of registers and stack words: stores and lookups, and the state at a function's start.

#include "sframe/code/state.h"

#include "values.h"

#include <algorithm>

namespace sframe::code {
namespace {

constexpr std::int32_t word_size = 8;
/// Number of slots reserved for values to restore for the caller: saved registers and the return address.
constexpr std::uint32_t kept_for_entry_values = 8;

bool same_base(const Value& a, const Value& b) {
  return a.base == b.base && a.id == b.id;
}

/// True if the word at `word` and `size` bytes at `place` overlap.
bool overlap(const Value& word, const Value& location, std::uint32_t size) {
  const std::int64_t distance = std::int64_t{word.offset} - location.offset;
  return same_base(word, location) && distance < size && distance > -word_size;
}

/// True for a value that may be needed later.
bool is_of_interest(const Value& value) {
  return value.is_location() || value.base == Value::Base::entry || value.base == Value::Base::unknown;
}

} // namespace

Value State::word(Value location) const {
  if (!location.is_location()) return Value::unknown();
  for (const Slot& slot : slots())
    if (slot.location.offset == location.offset && same_base(slot.location, location)) return slot.value;
  const bool is_anywhere = location.base == Value::Base::conflict || location.base == Value::Base::shadow ||
                           location.base == Value::Base::scaled ||
                           (location.base == Value::Base::symbol && !location.flag);
  return forgot_ || is_anywhere ? Value::unknown() : Value::other();
}

bool State::has_saved_register(Value location, std::uint32_t size) const {
  return std::ranges::any_of(slots(), [&](const Slot& slot) {
    return slot.value.base == Value::Base::entry && overlap(slot.location, location, size);
  });
}

bool State::has_only_copy(Value location, std::uint32_t size, Value sp, std::uint16_t saved) const {
  return std::ranges::any_of(slots(), [&](const Slot& slot) {
    return slot.value.base == Value::Base::entry && slot.value.id != saved &&
           overlap(slot.location, location, size) && same_base(slot.location, sp) &&
           slot.location.offset >= sp.offset && std::ranges::none_of(registers_, [&](const Value& value) {
             return value.base == Value::Base::entry && value.id == slot.value.id;
           });
  });
}

void State::overwrite(Value location, std::uint32_t size) {
  for (std::size_t i = count_; i-- > 0;)
    if (overlap(slots_[i].location, location, size)) remove_slot(i);
}

void State::store(Value location, Value value) {
  if (!location.is_location()) return;
  overwrite(location, word_size);
  if (!is_of_interest(value)) return;
  const bool is_entry_value = value.base == Value::Base::entry;
  if (count_ >= (is_entry_value ? max_slots : max_slots - kept_for_entry_values)) return set_forgot_words();
  location.flag = false;
  slots_[count_++] = {location, value};
  changed_ |= words_bit;
}

void State::drop_below(Value location) {
  for (std::size_t i = count_; i-- > 0;)
    if (same_base(slots_[i].location, location) && slots_[i].location.offset < location.offset)
      remove_slot(i);
}

void State::drop_below(Value location, Value value) {
  for (std::size_t i = count_; i-- > 0;)
    if (same_base(slots_[i].location, location) && slots_[i].location.offset < location.offset &&
        slots_[i].value == value)
      remove_slot(i);
}

void State::forget(Value::Base base, std::uint16_t id) {
  const auto is = [&](const Value& value) { return value.base == base && value.id == id; };
  for (std::uint16_t reg = 0; reg < max_registers; ++reg)
    if (is(registers_[reg])) set_reg(reg, Value::unknown());
  for (std::size_t i = count_; i-- > 0;) {
    if (is(slots_[i].location))
      remove_slot(i);
    else if (is(slots_[i].value))
      set_slot(i, Value::unknown());
  }
}

namespace {

/// Builds a state in which the rules of a first row are correct.
class EntryMaker {
public:
  EntryMaker(State& state, const AbiTraits& abi) : state_(state), abi_(abi) {}

  void add_cfa(const Rule& rule) {
    state_.set_reg(abi_.sp, {Value::Base::symbol, false, sp_symbol, 0});
    if (rule.kind == Rule::Kind::value)
      state_.set_reg(rule.base, plus(Value::cfa(0), -std::int64_t{rule.offset}));
    else if (rule.kind == Rule::Kind::stored)
      state_.store(plus(base_of(rule.base), rule.offset), Value::cfa(0));
  }

  /// Puts the entry value of `reg` at the place given by the rule.
  void add_register(const Rule& rule, std::uint16_t reg) {
    const Value value = Value::entry(reg);
    switch (rule.kind) {
    case Rule::Kind::undefined: break;
    case Rule::Kind::same: state_.set_reg(reg, value); break;
    case Rule::Kind::fixed: state_.store(Value::cfa(abi_.fixed_ra_offset), value); break;
    case Rule::Kind::value:
      if (rule.base != Rule::cfa_base && rule.offset == 0) state_.set_reg(rule.base, value);
      break;
    case Rule::Kind::stored: state_.store(plus(base_of(rule.base), rule.offset), value); break;
    }
  }

  /// s390x saves RA and SP by one instruction, in the register save area above the caller's SP. Rows do not
  /// describe SP; only the function needs the word, to restore SP.
  void add_saved_sp(const Rule& ra) {
    const std::int32_t distance = word_size * (abi_.sp - abi_.ra);
    const bool is_at_cfa = ra == Rule::at_cfa(ra.offset);
    if (abi_.sp_from_cfa != 0 && is_at_cfa && ra.offset >= abi_.sp_from_cfa && ra.offset < -distance)
      state_.store(Value::cfa(ra.offset + distance), Value::cfa(abi_.sp_from_cfa));
  }

  /// A part of a function that has saved RA, and restores it, may have done so on a shadow call stack, too.
  void add_shadow_stack(const Rule& ra, const Machine& machine) {
    const Value top{Value::Base::shadow, false, machine.shadow_stack_register, 0};
    state_.set_reg(machine.shadow_stack_register, top);
    if (ra.kind != Rule::Kind::same) state_.store(plus(top, -word_size), Value::entry(abi_.ra));
  }

private:
  /// Symbols at the entry: one for SP, one for each register that a rule is based on.
  static constexpr std::uint16_t sp_symbol = 0;

  Value base_of(std::uint16_t base) {
    if (base == Rule::cfa_base) return Value::cfa(0);
    if (!state_.reg(base).is_location())
      state_.set_reg(base, {Value::Base::symbol, false, next_symbol_++, 0});
    return state_.reg(base);
  }

  State& state_;
  const AbiTraits& abi_;
  std::uint16_t next_symbol_ = 1;
};

} // namespace

State State::at_entry(const FrameRow& row, const AbiTraits& abi, const Machine& machine) {
  State state;
  for (std::uint16_t reg = 0; reg < machine.num_registers; ++reg)
    if (!(machine.call_clobbered >> reg & 1)) state.set_reg(reg, Value::entry(reg));
  state.set_reg(abi.fp, Value::other());
  state.set_reg(abi.ra, Value::other());
  FrameRow first = row;
  if (row.is_outermost() || row.cfa.kind == Rule::Kind::undefined) {
    first = abi.entry_row();
    first.ra = Rule::undefined();
  }
  EntryMaker maker(state, abi);
  maker.add_cfa(first.cfa);
  maker.add_register(first.ra, abi.ra);
  maker.add_register(first.fp, abi.fp);
  maker.add_saved_sp(first.ra);
  if (machine.shadow_stack_register != Effect::none) maker.add_shadow_stack(first.ra, machine);
  if (first.ra_signed) {
    for (std::uint16_t reg = 0; reg < machine.num_registers; ++reg)
      if (state.reg(reg) == Value::entry(abi.ra)) state.set_reg(reg, signed_value(state.reg(reg)));
    for (std::size_t i = 0; i < state.count_; ++i)
      if (state.slots_[i].value == Value::entry(abi.ra))
        state.slots_[i].value = signed_value(state.slots_[i].value);
  }
  return state;
}

} // namespace sframe::code
