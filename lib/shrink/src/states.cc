// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "states.h"

#include <algorithm>
#include <type_traits>

namespace sframe::shrink {

namespace {

/// The fields of a state as bytes, one after the other: equal for equal states only.
class Key {
public:
  template <class T> void add(T field) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    text_.append(reinterpret_cast<const char*>(&field), sizeof field);
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
};

std::string key_of(const State& state) {
  Key key;
  key.add(state.cfa.kind);
  key.add(state.cfa.number);
  key.add(state.cfa.offset);
  key.add(state.ra_signed);
  for (const auto& [reg, rule] : state.rules) {
    key.add(reg);
    key.add(rule.kind);
    key.add(rule.number);
    key.add(rule.offset);
  }
  return key.take();
}

} // namespace

cfi::RegisterRule State::rule(std::uint32_t reg) const {
  const auto found = std::ranges::lower_bound(rules, reg, {}, [](const auto& one) { return one.first; });
  return found != rules.end() && found->first == reg ? found->second : cfi::RegisterRule{};
}

std::int64_t StateTable::number_of(std::span<const std::byte> expression) {
  const std::string text(reinterpret_cast<const char*>(expression.data()), expression.size());
  const auto [entry, added] =
      expression_numbers_.try_emplace(text, static_cast<std::int64_t>(expressions_.size()));
  if (added) expressions_.push_back(expression);
  return entry->second;
}

std::uint32_t StateTable::add(const cfi::FullRow& row) {
  State state{.cfa = row.cfa, .ra_signed = row.ra_signed, .rules = {}};
  if (row.cfa.kind == cfi::CfaRule::Kind::expression) state.cfa.offset = number_of(row.expression(row.cfa));
  for (std::uint32_t reg = 0; reg < cfi::AllRegisters::slots; ++reg) {
    cfi::RegisterRule rule = row.rules[reg];
    if (rule.kind == cfi::RegisterRule::Kind::unspecified) continue;
    if (rule.kind == cfi::RegisterRule::Kind::expression ||
        rule.kind == cfi::RegisterRule::Kind::val_expression)
      rule.offset = number_of(row.expression(rule));
    state.rules.emplace_back(reg, rule);
  }
  return add(std::move(state));
}

std::uint32_t StateTable::add(State state) {
  const auto [entry, added] = numbers_.try_emplace(key_of(state), static_cast<std::uint32_t>(states_.size()));
  if (added) {
    num_rules_ += state.rules.size() + 1;
    states_.push_back(std::move(state));
  }
  return entry->second;
}

} // namespace sframe::shrink
