// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ownership.h"

#include "sframe/address.h"

#include <algorithm>
#include <tuple>

namespace sframe::generate {

namespace {

using Entry = cfi::FdeIndex::Entry;

std::uint64_t end_of(const Entry& entry) {
  return range_end(entry.start, entry.size);
}

/// The run of entries from `first` on in which each overlaps another one of the run.
std::span<const Entry> cluster_at(std::span<const Entry> entries, std::size_t first) {
  std::uint64_t end = end_of(entries[first]);
  std::size_t last = first + 1;
  for (; last < entries.size() && entries[last].start < end; ++last)
    end = std::max(end, end_of(entries[last]));
  return entries.subspan(first, last - first);
}

} // namespace

std::vector<AddressRange> ranges_of(std::span<const Entry> entries) {
  std::vector<AddressRange> ranges;
  ranges.reserve(entries.size());
  for (const Entry& entry : entries) ranges.push_back({entry.start, entry.size});
  return ranges;
}

Ownership::Ownership(std::span<const Entry> entries, const AddressSet& covered) {
  for (std::size_t at = 0; at < entries.size();) {
    const auto cluster = cluster_at(entries, at);
    if (cluster.size() > 1 || !covered.empty()) divide(cluster);
    at += cluster.size();
  }
  if (!covered.empty()) subtract(covered);
  std::ranges::sort(exceptions_, {}, [](const OwnedRange& r) { return std::tie(r.item, r.begin, r.end); });
}

void Ownership::divide(std::span<const Entry> cluster) {
  std::vector<OwnedRange> ranges;
  for (const Entry& entry : cluster) {
    ranges.push_back({entry.start, end_of(entry), entry.offset});
    exceptions_.push_back({entry.start, entry.start, entry.offset});
  }
  sort_ranges(ranges);
  const auto owned = disjoint(ranges);
  exceptions_.insert(exceptions_.end(), owned.begin(), owned.end());
}

void Ownership::subtract(const AddressSet& covered) {
  std::vector<OwnedRange> left;
  for (const OwnedRange& piece : exceptions_) {
    left.push_back({piece.begin, piece.begin, piece.item});
    std::uint64_t at = piece.begin;
    for (const AddressRange& taken : covered.from(piece.begin)) {
      if (taken.start >= piece.end) break;
      if (at < taken.start) left.push_back({at, taken.start, piece.item});
      at = std::max(at, taken.end());
    }
    if (at < piece.end) left.push_back({at, piece.end, piece.item});
  }
  exceptions_ = std::move(left);
}

std::span<const OwnedRange> Ownership::pieces(const cfi::Fde& fde, OwnedRange& whole) const {
  const auto listed = std::ranges::equal_range(exceptions_, fde.offset, {}, &OwnedRange::item);
  if (!listed.empty()) return listed;
  whole = {fde.start, fde.end(), static_cast<std::uint32_t>(fde.offset)};
  return {&whole, 1};
}

} // namespace sframe::generate
