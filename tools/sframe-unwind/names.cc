// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

namespace sframe::unwind {

const Place& Places::of(const walk::Frame& frame) {
  const auto [at, added] = (frame.lookup_pc() == frame.pc ? exact_ : behind_).try_emplace(frame.pc);
  Place& place = at->second;
  if (!added) return place;
  place.module = space_.module_at(frame.lookup_pc());
  if (place.module && settings_.source) place.source = source_.find(*place.module, frame.lookup_pc());
  if (settings_.names) place.function = walk::function_of(frame, place.module, symbols_);
  return place;
}

} // namespace sframe::unwind
