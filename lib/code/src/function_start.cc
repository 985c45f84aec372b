// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/function_start.h"

namespace sframe::code {

bool may_start_function(const StartSigns& signs, Arrival arrival) {
  if (signs.is_marked || signs.is_named || signs.is_referred_to) return true;
  // Padding aligns loops, too, but only to where functions may start. No call returns to other padding.
  if (signs.is_after_padding && !signs.is_aligned) return true;
  switch (arrival) {
  case Arrival::after_rare_call: return true;
  case Arrival::after_call:
  case Arrival::by_jump: return signs.is_aligned;
  case Arrival::after_returning_call: return signs.is_aligned && signs.is_after_padding;
  }
  return false;
}

} // namespace sframe::code
