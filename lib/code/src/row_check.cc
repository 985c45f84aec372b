// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares rows with states.

#include "sframe/code/row_check.h"

#include "sframe/code/row_follower.h"

#include "values.h"

#include <algorithm>

namespace sframe::code {
namespace {

using Base = Value::Base;

/// The result of following a rule, and whether an uncertain value was met on the way.
struct Evaluated {
  Value value;
  bool through_conflict = false;
  bool unknown = false;
};

class RuleEvaluator {
public:
  RuleEvaluator(const State& state, const AbiTraits& abi) : state_(state), abi_(abi) {}

  Evaluated evaluate(const Rule& rule, std::uint16_t own_register, const Value& expected) const {
    switch (rule.kind) {
    case Rule::Kind::undefined: break;
    case Rule::Kind::same: return {state_.reg(own_register)};
    case Rule::Kind::fixed: return word(Value::cfa(abi_.fixed_ra_offset), expected);
    case Rule::Kind::value: return {plus(base(rule.base), rule.offset)};
    case Rule::Kind::stored: return word(plus(base(rule.base), rule.offset), expected);
    }
    return {expected};
  }

private:
  Value base(std::uint16_t reg) const { return reg == Rule::cfa_base ? Value::cfa(0) : state_.reg(reg); }

  Evaluated word(const Value& location, const Value& expected) const {
    if (location.base == Base::conflict) return {Value::unknown(), true};
    if (location.base == Base::unknown) return {location};
    if (!location.is_location()) return {Value::other()};
    const Value found = state_.word(location);
    if (found.base != Base::other) return {found};
    // The same word may have been stored through a symbol for SP that is not comparable with this one.
    for (const Slot& slot : state_.slots())
      if (signed_value(slot.value, false) == expected && slot.location.base != location.base &&
          slot.location.base != Base::shadow)
        return {found, false, true};
    return {found};
  }

  const State& state_;
  const AbiTraits& abi_;
};

RuleCheck check_value(const Evaluated& evaluated, const Value& expected) {
  RuleCheck check{.found = evaluated.value, .expected = expected};
  const Value& found = evaluated.value;
  if (signed_value(found, false) == expected) return check; // agrees
  if (evaluated.through_conflict || found.base == Base::conflict)
    check.agreement = Agreement::conflicts;
  else if (evaluated.unknown || found.base == Base::unknown ||
           (found.base == Base::symbol && expected.base == Base::cfa))
    check.agreement = Agreement::unknown;
  else
    check.agreement = Agreement::contradicts;
  return check;
}

/// Searches a state for the place from which a value can be recovered.
class RuleFinder {
public:
  RuleFinder(const State& state, const AbiTraits& abi) : state_(state), abi_(abi) {}

  /// By SP or FP, which are known in each frame of a walk; other registers are so in the first one only.
  std::optional<Rule> cfa() {
    const Value wanted = Value::cfa(0);
    if (const auto rule = cfa_by(abi_.sp)) return rule;
    if (const auto rule = cfa_by(abi_.fp)) return rule;
    parts_ = all_parts;
    if (const auto rule = stored(wanted, [&](const Value& location) { return !is_below_sp(location); }))
      return rule;
    for (std::uint16_t reg = 0; reg < State::max_registers; ++reg)
      if (const auto rule = cfa_by(reg)) return rule;
    return stored(wanted, anywhere);
  }

  /// A word at the CFA first, if no signal or interrupt may overwrite it: it is right even if a callee does
  /// not preserve the register.
  std::optional<Rule> entry_value(std::uint16_t reg) {
    const Value wanted = Value::entry(reg);
    const auto is_kept = [&](const Value& location) {
      return location.base == Base::cfa && !is_below_sp(location);
    };
    if (const auto rule = stored(wanted, is_kept)) return rule;
    if (signed_value(state_.reg(reg), false) == wanted) return Rule::same();
    parts_ = all_parts;
    for (std::uint16_t other = 0; other < State::max_registers; ++other)
      if (signed_value(state_.reg(other), false) == wanted) return Rule::in_register(other);
    return stored(wanted, anywhere);
  }

  /// On which the answers so far depend.
  std::uint64_t parts() const { return parts_; }

private:
  static constexpr std::uint64_t all_parts = ~std::uint64_t{0};

  static bool anywhere(const Value& /*location*/) { return true; }

  /// True if that is known of a word.
  bool is_below_sp(const Value& location) const {
    const Value sp = state_.reg(abi_.sp);
    return sp.base == location.base && sp.id == location.id && location.offset < sp.offset;
  }

  std::optional<Rule> cfa_by(std::uint16_t reg) const {
    const Value value = state_.reg(reg);
    if (value.base != Base::cfa || !fits_offset(-std::int64_t{value.offset})) return std::nullopt;
    return Rule::value(reg, -value.offset);
  }

  /// The word that holds `wanted`, at a place that is accepted: relative to the CFA, or to FP or SP by a
  /// symbol.
  template <class Predicate> std::optional<Rule> stored(const Value& wanted, Predicate is_accepted) const {
    for (const Slot& slot : state_.slots()) {
      if (signed_value(slot.value, false) != wanted || !is_accepted(slot.location)) continue;
      if (slot.location.base == Base::cfa) {
        if (wanted.base == Base::cfa) continue; // needs the CFA to find the CFA
        return slot.location.offset == abi_.fixed_ra_offset && wanted == Value::entry(abi_.ra)
                   ? Rule::fixed()
                   : Rule::at_cfa(slot.location.offset);
      }
      for (const std::uint16_t reg : {abi_.fp, abi_.sp}) {
        const Value base = state_.reg(reg);
        const std::int64_t distance = std::int64_t{slot.location.offset} - base.offset;
        if (base.base == Base::symbol && slot.location.base == Base::symbol && base.id == slot.location.id &&
            fits_offset(distance))
          return Rule::stored(reg, static_cast<std::int32_t>(distance));
      }
    }
    return std::nullopt;
  }

  const State& state_;
  const AbiTraits& abi_;
  std::uint64_t parts_ = State::bit(abi_.sp) | State::bit(abi_.fp) | State::bit(abi_.ra) | State::words_bit;
};

} // namespace

Agreement RowCheck::worst() const {
  const auto is_any = [&](Agreement agreement) {
    return cfa.agreement == agreement || ra.agreement == agreement || fp.agreement == agreement;
  };
  if (!sign_agrees || is_any(Agreement::contradicts)) return Agreement::contradicts;
  for (const Agreement agreement : {Agreement::conflicts, Agreement::unknown})
    if (is_any(agreement)) return agreement;
  return Agreement::agrees;
}

RowCheck check(const FrameRow& row, const State& state, const AbiTraits& abi) {
  if (row.is_outermost()) return {};
  const RuleEvaluator evaluator(state, abi);
  const auto rule = [&](const Rule& r, std::uint16_t reg, const Value& expected) {
    return check_value(evaluator.evaluate(r, reg, expected), expected);
  };
  // In place: copies of what was just written in pieces are slow.
  RowCheck result{.cfa = rule(row.cfa, abi.sp, Value::cfa(0)),
                  .ra = rule(row.ra, abi.ra, Value::entry(abi.ra)),
                  .fp = rule(row.fp, abi.fp, Value::entry(abi.fp))};
  // Readers of frames remove the mark of Swift's asynchronous frames, or they do not.
  if (result.fp.agreement == Agreement::agrees && result.fp.found.flag)
    result.fp.agreement = Agreement::unknown;
  if (result.ra.agreement == Agreement::agrees) result.sign_agrees = result.ra.found.flag == row.ra_signed;
  return result;
}

std::uint64_t parts_needed(const FrameRow& row, const AbiTraits& abi) {
  std::uint64_t parts = 0;
  const auto add = [&](const Rule& rule, std::uint16_t own_register) {
    switch (rule.kind) {
    case Rule::Kind::undefined: break;
    case Rule::Kind::same: parts |= State::bit(own_register); break;
    case Rule::Kind::stored: parts |= State::words_bit; [[fallthrough]];
    case Rule::Kind::value: parts |= State::bit(rule.base); break;
    case Rule::Kind::fixed: parts |= State::words_bit; break;
    }
  };
  add(row.cfa, abi.sp);
  add(row.ra, abi.ra);
  add(row.fp, abi.fp);
  return parts;
}

bool RowFollower::follow(const FrameRow& row, const State& state) {
  const bool agrees = check(row, state, *abi_).worst() == Agreement::agrees;
  agreeing_ = agrees ? &row : nullptr;
  if (agrees) needed_ = parts_needed(row, *abi_);
  changed_ = 0;
  return agrees;
}

std::optional<FrameRow> row_of(const State& state, const AbiTraits& abi, std::uint64_t* parts) {
  RuleFinder finder(state, abi);
  const auto cfa = finder.cfa();
  const auto ra = finder.entry_value(abi.ra);
  const auto fp = finder.entry_value(abi.fp);
  if (parts) *parts = finder.parts();
  if (!cfa || !ra) return std::nullopt;
  FrameRow row{.offset = 0, .cfa = *cfa, .ra = *ra, .fp = fp.value_or(Rule::undefined()), .ra_signed = false};
  row.ra_signed = abi.signs_return_addresses && check(row, state, abi).ra.found.flag;
  return row;
}

std::optional<Rule> cfa_by_frame_record(const State& state, const AbiTraits& abi) {
  constexpr std::int64_t word_size = 8;
  const Value fp = state.reg(abi.fp);
  const std::int64_t after = std::int64_t{fp.offset} + word_size;
  if (fp.base != Base::cfa || !fits_offset(after) || !fits_offset(-std::int64_t{fp.offset}))
    return std::nullopt;
  const Rule by_fp = Rule::value(abi.fp, -fp.offset);
  // s390x has no frame records: compilers address the frame by SP, and set FP to SP only if SP may move.
  if (abi.fixed_ra_offset == 0 && fp == state.reg(abi.sp)) return by_fp;
  const Value ra = state.word(Value::cfa(static_cast<std::int32_t>(after)));
  if (state.word(fp) != Value::entry(abi.fp) || signed_value(ra, false) != Value::entry(abi.ra))
    return std::nullopt;
  return by_fp;
}

bool is_signed_with_address(const State& state, const AbiTraits& abi) {
  if (!abi.signs_return_addresses) return false;
  const auto is_signed = [&](const Value& value) {
    return value.id == abi.ra && is_signed_with_address(value);
  };
  for (std::uint16_t reg = 0; reg < State::max_registers; ++reg)
    if (is_signed(state.reg(reg))) return true;
  return std::ranges::any_of(state.slots(), [&](const Slot& slot) { return is_signed(slot.value); });
}

bool is_entry_like(const State& state, const AbiTraits& abi) {
  if (state.reg(abi.sp) != Value::cfa(-abi.entry_cfa_offset)) return false;
  if (state.reg(abi.fp) != Value::entry(abi.fp)) return false;
  const Value ra = abi.fixed_ra_offset ? state.word(Value::cfa(abi.fixed_ra_offset)) : state.reg(abi.ra);
  return ra == Value::entry(abi.ra);
}

} // namespace sframe::code
