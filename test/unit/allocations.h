// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often the test program has asked for memory by `new`: allocations.cc replaces it.

#pragma once

#include <cstddef>
#include <optional>

namespace sframe::test {

/// Calls of operator new so far, on all threads.
std::size_t allocations();

/// Lets this thread have no memory after so many more calls; nothing: as much as there is.
void limit_allocations(std::optional<std::size_t> calls);

/// Calls `act` with room for no allocation, then for one, two, and so on, until it returns true: it could do
/// what it was to do. How many it needed; `most` where it never could.
template <class Act> int with_little_memory(Act&& act, int most = 10'000) {
  for (int calls = 0; calls < most; ++calls) {
    limit_allocations(static_cast<std::size_t>(calls));
    const bool done = act();
    limit_allocations(std::nullopt);
    if (done) return calls;
  }
  return most;
}

} // namespace sframe::test
