// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of address ranges: lookup, sets, and the owner of an address that is in several ranges.

#pragma once

#include "sframe/address.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// The last element whose `key` is not above `value`, or nullptr. Elements are sorted by the key.
/// Logarithmic.
template <class Elements, class Value, class Key>
auto* last_not_above(Elements& elements, const Value& value, Key key) {
  const auto above = std::ranges::upper_bound(elements, value, {}, key);
  return above == std::ranges::begin(elements) ? nullptr : &*std::prev(above);
}

/// The last of the ranges that starts at or before the address, if it contains the address; else nullptr.
/// `ranges`: AddressRange or derived from it, by start. Logarithmic.
template <class Ranges> auto* range_at(Ranges& ranges, std::uint64_t address) {
  auto* const found = last_not_above(ranges, address, [](const AddressRange& range) { return range.start; });
  return found && found->contains(address) ? found : nullptr;
}

/// A set of addresses: disjoint ranges by address, no two of which touch.
class AddressSet {
public:
  AddressSet() = default;
  /// The union of ranges in any order; what is beyond the last address is ignored. N log N.
  explicit AddressSet(std::vector<AddressRange> ranges);

  /// Linear; logarithmic at the end of the list.
  void add(AddressRange range);
  /// N log N in all ranges.
  void add(std::span<const AddressRange> ranges);

  bool empty() const { return ranges_.empty(); }
  std::span<const AddressRange> ranges() const { return ranges_; }
  /// The ranges that end after the address. Logarithmic.
  std::span<const AddressRange> from(std::uint64_t address) const;
  bool contains(std::uint64_t address) const { return range_with(address) != nullptr; }
  bool contains(const AddressRange& range) const {
    const AddressRange* const found = range_with(range.start);
    return found && found->contains(range);
  }
  /// The range that contains the address; nullptr if there is none. Valid until the set is changed.
  /// Logarithmic.
  const AddressRange* range_with(std::uint64_t address) const { return range_at(ranges_, address); }
  /// The parts of a range that are not in the set, by address. Logarithmic, and linear in the ranges passed.
  std::vector<AddressRange> outside(const AddressRange& range) const;
  /// The addresses that are not in `other`. Linear.
  AddressSet without(const AddressSet& other) const;
  /// Number of addresses.
  std::uint64_t size() const;
  /// The addresses that are also in `other`. Linear.
  AddressSet in_common(const AddressSet& other) const;
  std::uint64_t size_in_common(const AddressSet& other) const;

private:
  void join();
  template <class F> void each_in_common(const AddressSet& other, const F& f) const;

  std::vector<AddressRange> ranges_;
};

/// Addresses [begin, end) and their owner. An end beyond the address space is set to the last address.
struct OwnedRange {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t item = 0, source = 0; ///< a number in a source, such as a function or FDE; and that source

  friend bool operator==(const OwnedRange&, const OwnedRange&) = default;
};

/// Sorts as disjoint() requires.
void sort_ranges(std::vector<OwnedRange>& ranges);

/// Splits sorted ranges into disjoint ones; an outer range continues after an inner one. At most twice as
/// many. The rule is that of unwinders that search by start address: the range that starts last wins; of
/// equal starts the smallest; of equal ranges the first in its section.
std::vector<OwnedRange> disjoint(std::span<const OwnedRange> sorted);

/// The disjoint ranges `first`, and the parts of the disjoint ranges `second` outside them.
std::vector<OwnedRange> overlay(std::span<const OwnedRange> first, std::span<const OwnedRange> second);

} // namespace sframe

#pragma GCC visibility pop
