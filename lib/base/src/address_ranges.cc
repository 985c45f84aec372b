// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All functions are sweeps over sorted lists, or binary searches in them. A range may end after the last
// address, so sizes and distances are compared, not ends. disjoint() keeps a stack of the ranges that are
// open, the innermost last:
//
//   in:   10-50 A                   out:  10-20 A
//            20-30 B                         20-25 B
//              25-40 C                         25-40 C
//                                                 40-50 A

#include "sframe/base/address_ranges.h"

#include <tuple>

namespace sframe {

namespace {

/// The part of a range that does not wrap around the address space.
AddressRange clipped(AddressRange range) {
  if (range.start) range.size = std::min(range.size, 0 - range.start);
  return range;
}

/// The union of two ranges that overlap or touch.
AddressRange joined(const AddressRange& a, const AddressRange& b) {
  const std::uint64_t start = std::min(a.start, b.start);
  return {start, std::max(range_end(a.start - start, a.size), range_end(b.start - start, b.size))};
}

} // namespace

AddressSet::AddressSet(std::vector<AddressRange> ranges) : ranges_(std::move(ranges)) {
  join();
}

void AddressSet::add(AddressRange range) {
  range = clipped(range);
  if (range.empty()) return;
  const auto first = std::ranges::lower_bound(ranges_, range.start, {}, &AddressRange::end);
  const auto last = std::ranges::upper_bound(first, ranges_.end(), range.end(), {}, &AddressRange::start);
  for (auto touched = first; touched != last; ++touched) range = joined(range, *touched);
  ranges_.insert(ranges_.erase(first, last), range);
}

void AddressSet::add(std::span<const AddressRange> ranges) {
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  join();
}

void AddressSet::join() {
  if (!std::ranges::is_sorted(ranges_, {}, &AddressRange::start))
    std::ranges::sort(ranges_, {}, &AddressRange::start);
  std::size_t kept = 0;
  for (AddressRange range : ranges_) {
    range = clipped(range);
    if (range.empty()) continue;
    if (kept && range.start - ranges_[kept - 1].start <= ranges_[kept - 1].size)
      ranges_[kept - 1] = joined(ranges_[kept - 1], range);
    else
      ranges_[kept++] = range;
  }
  ranges_.resize(kept);
}

std::span<const AddressRange> AddressSet::from(std::uint64_t address) const {
  const auto at = std::ranges::partition_point(
      ranges_, [&](const AddressRange& range) { return range.start <= address && !range.contains(address); });
  return {at, ranges_.end()};
}

std::vector<AddressRange> AddressSet::outside(const AddressRange& range) const {
  std::vector<AddressRange> parts;
  const auto [start, size] = clipped(range);
  std::uint64_t done = 0; // bytes: an end may be beyond the last address
  for (const AddressRange& known : from(start)) {
    const std::uint64_t before = known.start > start ? known.start - start : 0;
    if (before >= size) break;
    if (before > done) parts.push_back({start + done, before - done});
    // Only the first may start before the range.
    done = known.start < start ? known.size - (start - known.start) : before + known.size;
    if (done >= size) return parts;
  }
  if (done < size) parts.push_back({start + done, size - done});
  return parts;
}

AddressSet AddressSet::without(const AddressSet& other) const {
  AddressSet out;
  for (const AddressRange& range : ranges_)
    for (const AddressRange& part : other.outside(range)) out.ranges_.push_back(part);
  return out;
}

std::uint64_t AddressSet::size() const {
  std::uint64_t total = 0;
  for (const AddressRange& range : ranges_) total += range.size;
  return total;
}

/// Calls f(AddressRange) for the ranges that are in both sets.
template <class F> void AddressSet::each_in_common(const AddressSet& other, const F& f) const {
  const auto last = [](const AddressRange& range) { return range.start + (range.size - 1); };
  for (auto a = ranges_.begin(), b = other.ranges_.begin(); a != ranges_.end() && b != other.ranges_.end();) {
    if (const std::uint64_t start = std::max(a->start, b->start); a->overlaps(*b))
      f(AddressRange{start, std::min(last(*a), last(*b)) - start + 1});
    ++(last(*a) < last(*b) ? a : b);
  }
}

AddressSet AddressSet::in_common(const AddressSet& other) const {
  AddressSet out;
  each_in_common(other, [&](const AddressRange& range) { out.ranges_.push_back(range); });
  return out;
}

std::uint64_t AddressSet::size_in_common(const AddressSet& other) const {
  std::uint64_t total = 0;
  each_in_common(other, [&](const AddressRange& range) { total += range.size; });
  return total;
}

void sort_ranges(std::vector<OwnedRange>& ranges) {
  const auto before = [](const OwnedRange& a, const OwnedRange& b) {
    return std::tie(a.begin, b.end, b.source, b.item) < std::tie(b.begin, a.end, a.source, a.item);
  };
  if (!std::ranges::is_sorted(ranges, before)) std::ranges::sort(ranges, before);
}

std::vector<OwnedRange> disjoint(std::span<const OwnedRange> sorted) {
  std::vector<OwnedRange> out;
  out.reserve(sorted.size());
  std::vector<OwnedRange> open; // innermost last
  std::uint64_t at = 0;
  const auto emit_up_to = [&](std::uint64_t stop) {
    while (!open.empty() && at < stop) {
      const OwnedRange& top = open.back();
      if (top.end <= at) {
        open.pop_back();
        continue;
      }
      const std::uint64_t end = std::min(top.end, stop);
      out.push_back({at, end, top.item, top.source});
      at = end;
    }
    at = stop;
  };
  for (const OwnedRange& range : sorted) {
    emit_up_to(range.begin);
    if (range.end > range.begin) open.push_back(range);
  }
  emit_up_to(~std::uint64_t{0});
  return out;
}

std::vector<OwnedRange> overlay(std::span<const OwnedRange> first, std::span<const OwnedRange> second) {
  std::vector<OwnedRange> out;
  out.reserve(first.size() + second.size());
  auto taken = first.begin();
  for (OwnedRange rest : second) {
    while (taken != first.end() && taken->end <= rest.begin) out.push_back(*taken++);
    while (rest.begin < rest.end && taken != first.end() && taken->begin < rest.end) {
      if (rest.begin < taken->begin) out.push_back({rest.begin, taken->begin, rest.item, rest.source});
      rest.begin = taken->end;
      if (taken->end <= rest.end) out.push_back(*taken++);
    }
    if (rest.begin < rest.end) out.push_back(rest);
  }
  out.insert(out.end(), taken, first.end());
  return out;
}

} // namespace sframe
