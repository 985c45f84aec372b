// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts many elements by an address or another number: comparing a million of them costs ten times as much.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sframe {

/// Sorts by `key(element)`, a 64-bit unsigned number; equal ones keep their order. Linear: a pass for each
/// group of eleven bits in which keys differ, with memory for a second copy of the elements. A few are sorted
/// by comparing, sorted ones are left as they are. `key` does not throw.
template <class T, class Key> void radix_sort(std::vector<T>& elements, Key&& key) {
  constexpr unsigned bits = 11;
  constexpr std::size_t values = std::size_t{1} << bits, few = 256;
  if (std::ranges::is_sorted(elements, {}, key)) return;
  if (elements.size() < few) {
    std::ranges::stable_sort(elements, {}, key);
    return;
  }
  std::uint64_t differing = 0;
  for (const T& element : elements) differing |= key(element) ^ key(elements.front());
  std::vector<T> sorted(elements.size());
  for (unsigned shift = 0; shift < 64; shift += bits) {
    const auto digit = [&](std::uint64_t number) { return number >> shift & (values - 1); };
    if (digit(differing) == 0) continue;
    std::array<std::size_t, values> next{}; // the place of the next element with that digit
    for (const T& element : elements) ++next[digit(key(element))];
    std::size_t before = 0;
    for (std::size_t& count : next) before += std::exchange(count, before);
    for (const T& element : elements) sorted[next[digit(key(element))]++] = element;
    elements.swap(sorted);
  }
}

} // namespace sframe
