// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins states where paths meet. A value on which they differ becomes a conflict: a new name for that place,
// which stores both values and persists. So each value of a block changes at most a few times, and the
// analysis terminates.

#pragma once

#include "effort.h"
#include "subject.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::code {

class Joins {
public:
  Joins(const Subject& subject, Effort& effort) : subject_(subject), effort_(effort) {}

  /// Before the data flow is computed, or computed again.
  void forget_flow() { conflicts_.clear(); }

  /// `known` is the state at `address`, on all paths so far; `incoming` is that on another one, which comes
  /// from the instruction at `from`. `known` becomes what holds on both. True if it changes.
  bool join(State& known, const State& incoming, std::uint64_t address, std::uint64_t from);

  /// Value::id of a conflict is an index.
  std::span<const Conflict> conflicts() const { return conflicts_; }

private:
  bool join_registers(State& known, const State& incoming, const Conflict& where);
  bool join_words(State& known, const State& incoming, const Conflict& where);
  Value merge(const Value& old, const Value& incoming, Conflict where);

  const Subject& subject_;
  Effort& effort_;
  std::vector<Conflict> conflicts_;
};

} // namespace sframe::code
