// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows and states: does a row say the truth about a state, and which row would.

#pragma once

#include "sframe/code/state.h"
#include "sframe/row.h"

#include <optional>

namespace sframe::code {

/// How a rule of a row stands to the state.
enum class Agreement : std::uint8_t {
  agrees,
  contradicts, ///< the state is known, and the rule gives another value
  conflicts,   ///< the rule rests on a value that differs between paths
  unknown,     ///< the state does not know what the rule rests on
};

/// What following one rule gives in a state.
struct RuleCheck {
  Agreement agreement = Agreement::agrees;
  Value found;    ///< what the rule leads to
  Value expected; ///< what it should have: CFA + 0, or the entry value of RA or FP
};

/// A row against a state. Rules that say nothing (an outermost row) agree.
struct RowCheck {
  RuleCheck cfa, ra, fp;
  bool sign_agrees = true; ///< AArch64: ra_signed is what the state says; true where RA itself does not agree

  /// The worst of the three: contradicts, conflicts, unknown, agrees, in this order.
  Agreement worst() const;
};

/// Follows the row's rules in the state. Constant cost.
RowCheck check(const FrameRow& row, const State& state, const AbiTraits& abi);

/// The canonical row that the state makes true: the CFA by SP where SP is known relative to it, else by FP,
/// by any other register, by a word in the frame at FP or SP; RA and FP where they are: in their register,
/// else in a word at the CFA or at a register. Nothing where CFA or RA cannot be found. The row's `offset` is
/// 0. Constant cost.
std::optional<FrameRow> row_of(const State& state, const AbiTraits& abi);

/// True where the state is that of a function which could return or jump on to another function: SP is where
/// it was at a canonical entry, FP and the return address are the caller's.
bool is_entry_like(const State& state, const AbiTraits& abi);

} // namespace sframe::code
