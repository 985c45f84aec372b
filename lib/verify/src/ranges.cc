// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ranges.h"

#include <algorithm>
#include <tuple>

namespace sframe::verify {

void sort_ranges(std::vector<Range>& ranges) {
  const auto before = [](const Range& a, const Range& b) {
    return std::tie(a.begin, b.end, b.source, b.item) < std::tie(b.begin, a.end, a.source, a.item);
  };
  if (!std::ranges::is_sorted(ranges, before)) std::ranges::sort(ranges, before);
}

std::vector<Range> disjoint(std::span<const Range> sorted) {
  std::vector<Range> out;
  out.reserve(sorted.size());
  std::vector<Range> open; // innermost last
  std::uint64_t at = 0;
  const auto emit_up_to = [&](std::uint64_t stop) {
    while (!open.empty() && at < stop) {
      const Range& top = open.back();
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
  for (const Range& range : sorted) {
    emit_up_to(range.begin);
    if (range.end > range.begin) open.push_back(range);
  }
  emit_up_to(~std::uint64_t{0});
  return out;
}

std::vector<Range> overlay(std::span<const Range> first, std::span<const Range> second) {
  std::vector<Range> out;
  out.reserve(first.size() + second.size());
  auto taken = first.begin();
  for (Range rest : second) {
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

std::vector<Range> joined(std::vector<Range> ranges) {
  sort_ranges(ranges);
  std::vector<Range> out;
  for (const Range& range : ranges) {
    if (!out.empty() && range.begin <= out.back().end)
      out.back().end = std::max(out.back().end, range.end);
    else
      out.push_back(range);
  }
  return out;
}

} // namespace sframe::verify
