// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares rows with states: whether a row is correct in a state, and which row would be.

#pragma once

#include "sframe/code/state.h"
#include "sframe/row.h"

#include <optional>

namespace sframe::code {

/// How a rule of a row compares with the state.
enum class Agreement : std::uint8_t {
  agrees,
  contradicts, ///< the state is known, and the rule gives another value
  conflicts,   ///< the rule depends on a value that differs between paths
  unknown,     ///< the rule depends on a value that is not known
};

/// The result of following one rule in a state.
struct RuleCheck {
  Agreement agreement = Agreement::agrees;
  Value found;    ///< the value that the rule yields
  Value expected; ///< the correct value: CFA + 0, or the entry value of RA or FP
};

/// A row compared with a state. Undefined rules (an outermost row) agree.
struct RowCheck {
  RuleCheck cfa, ra, fp;
  bool sign_agrees = true; ///< AArch64: ra_signed matches the state; true if RA itself does not agree

  /// The worst of the three: contradicts, conflicts, unknown, agrees, in this order.
  Agreement worst() const;
};

/// Follows the row's rules in the state. Constant cost.
RowCheck check(const FrameRow& row, const State& state, const AbiTraits& abi);

/// The parts of a state on which check() depends: State::bit() of registers, State::words_bit. Constant cost.
std::uint64_t parts_needed(const FrameRow& row, const AbiTraits& abi);

/// The canonical row that is correct in the state. The CFA is based on SP if SP is known relative to it, else
/// on FP, a word in the frame at FP or SP, any other register, or a word below SP. RA and FP are in a word at
/// the CFA that is not below SP, else in their register, another register, or any other word; FP is undefined
/// if it is in none. Empty if CFA or RA cannot be found. The row's `offset` is 0. `parts`, if not nullptr,
/// gets the parts of the state on which the result depends, as State::bit(). Constant cost.
std::optional<FrameRow> row_of(const State& state, const AbiTraits& abi, std::uint64_t* parts = nullptr);

/// The CFA by FP, if FP points to a frame record: the caller's FP, and the return address in the next word.
/// Where these need not be in the frame (all ABIs but AMD64), also if FP equals SP. A function that has one
/// may move SP on paths that its instructions alone do not show: after alloca() in a case of a switch, or on
/// the way to a landing pad. FP stays. Constant cost.
std::optional<Rule> cfa_by_frame_record(const State& state, const AbiTraits& abi);

/// True if the return address is in a register or on the stack, but signed with the address of the signing
/// instruction (AArch64: PAuth-LR), which no row can say. Constant cost.
bool is_signed_with_address(const State& state, const AbiTraits& abi);

/// True if a function in this state could return or jump to another function: SP is where it was at a
/// canonical entry, and FP and the return address are the caller's.
bool is_entry_like(const State& state, const AbiTraits& abi);

} // namespace sframe::code
