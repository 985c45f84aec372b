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

namespace detail {

/// A key and the number of its element. Most keys differ in 32 bits at most: these and the number fit in
/// half the memory.
struct WideKey {
  std::uint64_t key;
  std::uint32_t number;

  WideKey(std::uint64_t its_key, std::uint32_t its_number) : key(its_key), number(its_number) {}
};
struct NarrowKey {
  std::uint32_t key;
  std::uint32_t number;

  NarrowKey(std::uint64_t its_key, std::uint32_t its_number)
      : key(static_cast<std::uint32_t>(its_key)), number(its_number) {}
};

/// Sorts by the bits of the keys that are set in `differing`; equal ones keep their order.
template <class Keyed>
std::vector<std::uint32_t> radix_order(std::vector<Keyed> keys, std::uint64_t differing) {
  constexpr unsigned bits = 11;
  constexpr std::size_t values = std::size_t{1} << bits;
  std::vector<Keyed> sorted(keys);
  for (unsigned shift = 0; shift < 64; shift += bits) {
    const auto digit = [&](std::uint64_t key) { return key >> shift & (values - 1); };
    if (digit(differing) == 0) continue;
    std::array<std::uint32_t, values> next{}; // the place of the next one with that digit
    for (const Keyed& key : keys) ++next[digit(key.key)];
    std::uint32_t before = 0;
    for (std::uint32_t& count : next) before += std::exchange(count, before);
    for (const Keyed& key : keys) sorted[next[digit(key.key)]++] = key;
    keys.swap(sorted);
  }
  std::vector<std::uint32_t> order;
  order.reserve(keys.size());
  for (const Keyed& key : keys) order.push_back(key.number);
  return order;
}

} // namespace detail

/// The numbers of `count` elements in the order of `key(number)`, a 64-bit unsigned number; equal ones keep
/// their order. Linear: a pass for each group of eleven bits in which keys differ. Takes 20 bytes per
/// element, 36 if keys differ by more than 32 bits. `key` does not throw.
template <class Key> std::vector<std::uint32_t> radix_order(std::uint32_t count, Key&& key) {
  std::uint64_t differing = 0;
  for (std::uint32_t i = 0; i < count; ++i) differing |= key(i) ^ key(0);
  const auto sort = [&]<class Keyed>(std::vector<Keyed> keys) {
    keys.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) keys.emplace_back(key(i), i);
    return detail::radix_order(std::move(keys), differing);
  };
  if (differing > UINT32_MAX) return sort(std::vector<detail::WideKey>());
  return sort(std::vector<detail::NarrowKey>());
}

/// Sorts by `key(element)`, in the same way; at most 2^32 - 1 elements. A few are sorted by comparing, sorted
/// ones are left as they are.
template <class T, class Key> void radix_sort(std::vector<T>& elements, Key&& key) {
  constexpr std::size_t few = 256;
  if (std::ranges::is_sorted(elements, {}, key)) return;
  if (elements.size() < few || elements.size() > UINT32_MAX) {
    std::ranges::stable_sort(elements, {}, key);
    return;
  }
  const auto order = radix_order(static_cast<std::uint32_t>(elements.size()),
                                 [&](std::uint32_t i) { return std::uint64_t{key(elements[i])}; });
  std::vector<T> sorted;
  sorted.reserve(elements.size());
  for (const std::uint32_t number : order) sorted.push_back(elements[number]);
  elements = std::move(sorted);
}

} // namespace sframe
