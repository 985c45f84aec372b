// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts and limits allocations by `new` in the test program, whose operators allocations.cc replaces.

#pragma once

#include <cstddef>
#include <optional>

namespace sframe::test {

/// Number of calls of operator new so far, on all threads.
std::size_t allocations();

/// Makes allocations of this thread fail after so many more calls; empty: no limit.
void limit_allocations(std::optional<std::size_t> calls);

/// Calls `act` with a limit of no allocations, then one, two, and so on, until it returns true for success.
/// Returns the limit that sufficed, or `most` if none did.
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
