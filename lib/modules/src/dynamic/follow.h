// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: following an untrusted list in memory.

#pragma once

#include "dynamic/registration.h"
#include "sframe/number_hash.h"

#include <unordered_set>

namespace sframe::modules::dynamic {

/// Calls `each(address)` for the entries of `entry_size` bytes starting at `first`, each of which begins with
/// the address of the next one or 0, until it returns false. Stops at a cycle and when the listing is full.
/// Several lists may share their entries: they are charged each time.
template <class Each>
void follow(unwind::Memory& memory, std::uint64_t first, std::uint64_t entry_size, std::string_view list,
            Listing& listing, Each&& each) {
  std::unordered_set<std::uint64_t, NumberHash> seen;
  for (std::uint64_t at = first; at;) {
    if (listing.entries.size() >= listing.max_entries || seen.size() >= listing.max_entries)
      return listing.problem(list, at, "has too many entries");
    if (!take(listing.budget, entry_size)) return listing.problem(list, at, not_read_further);
    if (!seen.insert(at).second) return listing.problem(list, at, "has a cycle");
    if (!each(at)) return;
    const auto next = memory.word(at);
    if (!next) return listing.problem(list, at, "cannot be read");
    at = *next;
  }
}

} // namespace sframe::modules::dynamic
