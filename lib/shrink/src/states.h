// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the rules of all registers at an address, as numbers. A program has few different states, and
// what leads from one to another is asked again and again.

#pragma once

#include "sframe/cfi/rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::shrink {

/// The rules that hold at an address. Expressions are named by their number in the StateTable, in the field
/// `offset` of their rule.
struct State {
  cfi::CfaRule cfa;
  bool ra_signed = false;
  std::vector<std::pair<std::uint32_t, cfi::RegisterRule>> rules; ///< by register, none unspecified

  /// The rule of a register; unspecified if there is none. Linear in the rules.
  cfi::RegisterRule rule(std::uint32_t reg) const;
  friend bool operator==(const State&, const State&) = default;
};

class StateTable {
public:
  /// The number of a row's state. Linear in the registers that a row has.
  std::uint32_t add(const cfi::FullRow& row);
  std::uint32_t add(State state);

  const State& operator[](std::uint32_t number) const { return states_[number]; }
  std::span<const std::byte> expression(std::uint64_t number) const { return expressions_[number]; }
  /// Of all states: what they cost.
  std::uint64_t num_rules() const { return num_rules_; }

private:
  std::int64_t number_of(std::span<const std::byte> expression);

  std::vector<State> states_;
  std::uint64_t num_rules_ = 0;
  std::unordered_map<std::string, std::uint32_t> numbers_; ///< by key
  std::vector<std::span<const std::byte>> expressions_;    ///< views of the section
  std::unordered_map<std::string, std::int64_t> expression_numbers_;
};

} // namespace sframe::shrink
