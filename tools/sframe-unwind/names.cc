// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

namespace sframe::unwind_tool {

const Place& Places::of(const unwind::Frame& frame) {
  constexpr std::size_t most_places = 1 << 16; // more than real stacks need
  auto& places = frame.lookup_pc() == frame.pc ? exact_ : behind_;
  if (places.size() >= most_places) places.clear();
  const auto [at, added] = places.try_emplace(frame.pc);
  Place& place = at->second;
  if (!added) return place;
  place.module = space_.module_at(frame.lookup_pc());
  if (place.module && settings_.source) place.source = source_.find(*place.module, frame.lookup_pc());
  if (settings_.names) place.function = modules::function_of(frame, place.module, symbols_);
  pay(place);
  return place;
}

/// Charges the names to the budget: the walk ends when it is used up.
void Places::pay(const Place& place) const {
  Budget* const budget = space_.budget();
  if (!budget) return;
  std::size_t bytes = place.function ? place.function->name.size() : 0;
  if (place.source) {
    bytes += place.source->at.file.size();
    for (const modules::InlinedCall& call : place.source->inlined)
      bytes += call.function.size() + call.at.file.size();
  }
  budget->take(Resource::name_bytes, bytes);
}

} // namespace sframe::unwind_tool
