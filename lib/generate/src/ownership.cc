// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ownership.h"

#include "sframe/address.h"

#include <algorithm>
#include <tuple>

namespace sframe::generate {

namespace {

using Entry = cfi::Index::Entry;

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

void Covered::add(std::span<const Entry> entries) {
  const std::size_t old = intervals_.size();
  for (std::size_t at = 0; at < entries.size();) {
    const auto cluster = cluster_at(entries, at);
    std::uint64_t end = 0;
    for (const Entry& entry : cluster) end = std::max(end, end_of(entry));
    if (intervals_.size() > old && intervals_.back().end == cluster.front().start)
      intervals_.back().end = end;
    else
      intervals_.push_back({cluster.front().start, end});
    at += cluster.size();
  }
  if (old == 0) return;
  std::ranges::sort(intervals_, {}, &Interval::begin);
  std::size_t kept = 0;
  for (const Interval& interval : intervals_) {
    if (kept && interval.begin <= intervals_[kept - 1].end)
      intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, interval.end);
    else
      intervals_[kept++] = interval;
  }
  intervals_.resize(kept);
}

std::span<const Covered::Interval> Covered::from(std::uint64_t address) const {
  const auto at = std::ranges::upper_bound(intervals_, address, {}, &Interval::end);
  return {at, intervals_.end()};
}

Ownership::Ownership(std::span<const Entry> entries, const Covered& covered) {
  for (std::size_t at = 0; at < entries.size();) {
    const auto cluster = cluster_at(entries, at);
    if (cluster.size() > 1 || !covered.empty()) divide(cluster);
    at += cluster.size();
  }
  if (!covered.empty()) subtract(covered);
  std::ranges::sort(exceptions_, {}, [](const Piece& p) { return std::tie(p.fde, p.begin, p.end); });
}

/// Sweeps over a cluster with a stack of open FDEs: the top one owns the next addresses.
void Ownership::divide(std::span<const Entry> cluster) {
  std::vector<Entry> order(cluster.begin(), cluster.end());
  // Later entries take precedence: the one that starts last, the smallest, the first in the section.
  std::ranges::sort(order, [](const Entry& a, const Entry& b) {
    return std::tie(a.start, b.size, b.offset) < std::tie(b.start, a.size, a.offset);
  });
  std::vector<const Entry*> open;
  std::uint64_t at = order.front().start;
  const auto advance = [&](std::uint64_t to) {
    while (!open.empty() && at < to) {
      const Entry& owner = *open.back();
      const std::uint64_t end = std::min(end_of(owner), to);
      if (at < end) {
        exceptions_.push_back({owner.offset, at, end});
        at = end;
      }
      if (end_of(owner) <= at) open.pop_back();
    }
    at = to;
  };
  for (const Entry& entry : order) {
    exceptions_.push_back({entry.offset, entry.start, entry.start});
    advance(entry.start);
    open.push_back(&entry);
  }
  std::uint64_t end = 0;
  for (const Entry& entry : order) end = std::max(end, end_of(entry));
  advance(end);
}

void Ownership::subtract(const Covered& covered) {
  std::vector<Piece> left;
  for (const Piece& piece : exceptions_) {
    left.push_back({piece.fde, piece.begin, piece.begin});
    std::uint64_t at = piece.begin;
    for (const auto& taken : covered.from(piece.begin)) {
      if (taken.begin >= piece.end) break;
      if (at < taken.begin) left.push_back({piece.fde, at, taken.begin});
      at = std::max(at, taken.end);
    }
    if (at < piece.end) left.push_back({piece.fde, at, piece.end});
  }
  exceptions_ = std::move(left);
}

std::span<const Piece> Ownership::pieces(const cfi::Fde& fde, Piece& whole) const {
  const auto listed = std::ranges::equal_range(exceptions_, fde.offset, {}, &Piece::fde);
  if (!listed.empty()) return listed;
  whole = {fde.offset, fde.start, fde.end()};
  return {&whole, 1};
}

} // namespace sframe::generate
