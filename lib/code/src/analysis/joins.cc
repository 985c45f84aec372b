// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "joins.h"

#include "values.h"

#include <limits>
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

Conflict of_register(Conflict where, std::uint16_t reg) {
  where.in_register = true;
  where.reg = reg;
  return where;
}

Conflict of_word(Conflict where, const Value& location) {
  where.location = location;
  return where;
}

} // namespace

/// Called if the old and incoming values differ.
Value Joins::merge(const Value& old, const Value& incoming, Conflict where) {
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

bool Joins::join_registers(State& known, const State& incoming, const Conflict& where) {
  bool changed = false;
  for (std::uint16_t reg = 0; reg < subject_.machine.num_registers; ++reg) {
    const Value &old = known.reg(reg), &other = incoming.reg(reg);
    if (old == other) continue;
    // Mostly the values matter to no row: no conflict has to be prepared. An old one may be that of this
    // place.
    const auto common = old.base == Base::conflict ? std::nullopt : common_value(old, other);
    const Value merged = common ? *common : merge(old, other, of_register(where, reg));
    if (merged == old) continue;
    known.set_reg(reg, merged);
    changed = true;
  }
  return changed;
}

bool Joins::join_words(State& known, const State& incoming, const Conflict& where) {
  bool changed = false;
  for (std::size_t i = known.slots().size(); i-- > 0;) {
    const Slot slot = known.slots()[i];
    const Value other = incoming.word(slot.location);
    if (other == slot.value) continue;
    const bool saved = slot.value.base != Base::cfa && slot.value.base != Base::symbol;
    const Value merged =
        saved || matters(other) ? merge(slot.value, other, of_word(where, slot.location)) : Value::other();
    if (merged == slot.value) continue;
    changed = true;
    if (merged.base == Base::other)
      known.remove_slot(i);
    else
      known.set_slot(i, merged);
  }
  if (incoming.forgot_words() && !known.forgot_words()) {
    known.set_forgot_words();
    changed = true;
  }
  for (const Slot& slot : incoming.slots()) {
    if (slot.value.base != Base::entry || known.word(slot.location) != Value::other()) continue;
    known.store(slot.location, merge(Value::other(), slot.value, of_word(where, slot.location)));
    changed = true;
  }
  return changed;
}

bool Joins::join(State& known, const State& incoming, std::uint64_t address, std::uint64_t from) {
  const bool same_words = known.same_words(incoming);
  if (same_words && known.same_registers(incoming) && known.compare == incoming.compare) return false;
  effort_.add_join(incoming.slots().size());
  const Conflict where{.address = address, .second_from = from};
  bool changed = join_registers(known, incoming, where);
  if (!same_words) changed |= join_words(known, incoming, where);
  if (known.compare.reg != Effect::none && known.compare != incoming.compare) {
    known.compare.reg = Effect::none;
    changed = true;
  }
  return changed;
}

} // namespace sframe::code
