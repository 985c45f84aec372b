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
bool overlap(const Value& word, const Value& place, std::uint32_t size) {
  const std::int64_t distance = std::int64_t{word.offset} - place.offset;
  return same_base(word, place) && distance < size && distance > -word_size;
}

/// True for a value that may be needed later.
bool is_of_interest(const Value& value) {
  return value.is_place() || value.base == Value::Base::entry || value.base == Value::Base::unknown;
}

} // namespace

Value State::word(Value place) const {
  if (!place.is_place()) return Value::unknown();
  for (const Slot& slot : slots())
    if (slot.place.offset == place.offset && same_base(slot.place, place)) return slot.value;
  const bool is_anywhere =
      place.base == Value::Base::conflict || (place.base == Value::Base::symbol && !place.flag);
  return forgot_ || is_anywhere ? Value::unknown() : Value::other();
}

bool State::has_saved_register(Value place, std::uint32_t size) const {
  return std::ranges::any_of(slots(), [&](const Slot& slot) {
    return slot.value.base == Value::Base::entry && overlap(slot.place, place, size);
  });
}

bool State::has_only_copy(Value place, std::uint32_t size, Value sp, std::uint16_t saved) const {
  return std::ranges::any_of(slots(), [&](const Slot& slot) {
    return slot.value.base == Value::Base::entry && slot.value.id != saved &&
           overlap(slot.place, place, size) && same_base(slot.place, sp) && slot.place.offset >= sp.offset &&
           std::ranges::none_of(registers_, [&](const Value& value) {
             return value.base == Value::Base::entry && value.id == slot.value.id;
           });
  });
}

void State::overwrite(Value place, std::uint32_t size) {
  for (std::size_t i = count_; i-- > 0;)
    if (overlap(slots_[i].place, place, size)) remove_slot(i);
}

bool State::same_values(const State& other) const {
  return registers_ == other.registers_ && forgot_ == other.forgot_ && compare == other.compare &&
         std::ranges::equal(slots(), other.slots());
}

void State::store(Value place, Value value) {
  if (!place.is_place()) return;
  overwrite(place, word_size);
  if (!is_of_interest(value)) return;
  const bool precious = value.base == Value::Base::entry;
  if (count_ >= (precious ? max_slots : max_slots - kept_for_entry_values)) {
    forgot_ = true;
    return;
  }
  place.flag = false;
  slots_[count_++] = {place, value};
}

void State::drop_below(Value place) {
  for (std::size_t i = count_; i-- > 0;)
    if (same_base(slots_[i].place, place) && slots_[i].place.offset < place.offset) remove_slot(i);
}

void State::forget(Value::Base base, std::uint16_t id) {
  const auto is = [&](const Value& value) { return value.base == base && value.id == id; };
  for (Value& value : registers_)
    if (is(value)) value = Value::unknown();
  for (std::size_t i = count_; i-- > 0;) {
    if (is(slots_[i].place))
      remove_slot(i);
    else if (is(slots_[i].value))
      slots_[i].value = Value::unknown();
  }
}

namespace {

/// Builds a state in which the rules of a first row are correct.
class EntryMaker {
public:
  EntryMaker(State& state, const AbiTraits& abi) : state_(state), abi_(abi) {}

  void place_cfa(const Rule& rule) {
    state_.set_reg(abi_.sp, {Value::Base::symbol, false, sp_symbol, 0});
    if (rule.kind == Rule::Kind::value)
      state_.set_reg(rule.base, plus(Value::cfa(0), -std::int64_t{rule.offset}));
    else if (rule.kind == Rule::Kind::stored)
      state_.store(plus(base_of(rule.base), rule.offset), Value::cfa(0));
  }

  /// Puts the entry value of `reg` at the place given by the rule.
  void place_register(const Rule& rule, std::uint16_t reg) {
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
  void place_saved_sp(const Rule& ra) {
    const std::int32_t distance = word_size * (abi_.sp - abi_.ra);
    const bool is_at_cfa = ra == Rule::at_cfa(ra.offset);
    if (abi_.sp_from_cfa != 0 && is_at_cfa && ra.offset >= abi_.sp_from_cfa && ra.offset < -distance)
      state_.store(Value::cfa(ra.offset + distance), Value::cfa(abi_.sp_from_cfa));
  }

private:
  /// Symbols at the entry: one for SP, one for each register that a rule is based on.
  static constexpr std::uint16_t sp_symbol = 0;

  Value base_of(std::uint16_t base) {
    if (base == Rule::cfa_base) return Value::cfa(0);
    if (!state_.reg(base).is_place()) state_.set_reg(base, {Value::Base::symbol, false, next_symbol_++, 0});
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
  maker.place_cfa(first.cfa);
  maker.place_register(first.ra, abi.ra);
  maker.place_register(first.fp, abi.fp);
  maker.place_saved_sp(first.ra);
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
