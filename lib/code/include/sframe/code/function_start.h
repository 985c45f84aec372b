// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a function ends although its last instruction does not leave it. Compilers put nothing after a call
// that does not return, nor where a branch leads that is never taken (LLVM's unreachable, gcc's
// __builtin_unreachable()): control seems to go on into what follows, which is padding, the next function or
// a part of another one. One rule decides this for code without rows (Analysis), for functions that
// sframe-gen finds, and for jumps that sframe-verify checks (K210).
//
// The rule only says that a function may start there: what is reached over such an edge is guessed, and the
// caller can still find out that the function goes on. If it also makes another frame, there is no edge: the
// path would lead through all following functions, from the last call of each into the next. Two other signs
// need the states of the analysis, and are decided there: a row after the call that fits neither the state
// before it nor after it, and paths that meet after it with different frames.

#pragma once

#include <cstdint>

namespace sframe::code {

/// What is known of an address at which a function may start. All false: nothing.
struct StartSigns {
  /// The code starts as only a function does: with `endbr64` or `bti c`, or by making another frame record,
  /// or by saving or signing the return address where the call has just put another one.
  bool is_marked = false;
  /// A symbol, an FDE or a function of SFrame starts there.
  bool is_named = false;
  /// Other code calls it, jumps to it, or puts its address into a register.
  bool is_referred_to = false;
  /// Padding is before it, and ...
  bool is_after_padding = false;
  /// ... compilers start functions at such addresses, but also loops.
  bool is_aligned = false;
};

/// How control seems to get there.
enum class Arrival : std::uint8_t {
  after_call,           ///< from a call of which it is not known that it returns
  after_returning_call, ///< from a call of code that returns, although perhaps not from here
  after_rare_call, ///< as after_call, in code that is expected to run rarely: many calls do not return there
  by_jump,         ///< by a jump to the address, or to the padding before it
};

/// True if another function may start at the address.
bool may_start_function(const StartSigns& signs, Arrival arrival);

} // namespace sframe::code
