// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A look-up in a short list of constants, as the registries of ABIs are (sframe/abis.def).

#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace sframe {

/// The first of the entries, which are pointers, whose `member` has the value; nullptr if there is none.
/// `member`: a pointer to a data member or member function, or anything that takes the entry.
template <class Entry, std::size_t count, class Value, class Member>
const Entry* find_entry(const Entry* const (&entries)[count], const Value& value, Member member) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry* entry) { return std::invoke(member, *entry) == value; });
  return found == std::end(entries) ? nullptr : *found;
}

} // namespace sframe
