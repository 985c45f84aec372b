// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

namespace sframe::unwind {

const Place& Places::of(const walk::Frame& frame) {
  const auto [at, added] = (frame.pc_exact ? exact_ : behind_call_).try_emplace(frame.pc);
  Place& place = at->second;
  if (!added) return place;
  place.module = space_.module_at(frame.lookup_pc());
  if (place.module && settings_.source) place.source = source_.find(*place.module, frame.lookup_pc());
  if (!place.module || !settings_.names) return place;
  place.function = symbols_.find(*place.module, frame.lookup_pc(), frame.pc);
  // The trampoline of signal handlers is entered at its first byte, by no call: its name is that of the pc
  // itself.
  if (frame.signal_frame)
    if (auto exact = symbols_.find(*place.module, frame.pc, frame.pc)) place.function = std::move(exact);
  return place;
}

} // namespace sframe::unwind
