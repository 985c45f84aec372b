// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/address_ranges.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sframe::elf {

std::optional<AddressRange> AddressRange::make(std::uint64_t start, std::uint64_t size,
                                               std::uint32_t section) {
  if (size == 0 || size - 1 > std::numeric_limits<std::uint64_t>::max() - start) return std::nullopt;
  return AddressRange{section, start, start + (size - 1)};
}

void join_ranges(std::vector<AddressRange>& ranges) {
  const auto order = [](const AddressRange& range) { return std::tuple(range.section, range.first); };
  if (!std::ranges::is_sorted(ranges, {}, order)) std::ranges::sort(ranges, {}, order);
  std::size_t kept = 0;
  for (const AddressRange& range : ranges) {
    AddressRange* before = kept ? &ranges[kept - 1] : nullptr;
    const bool continues = before && before->section == range.section &&
                           (range.first <= before->last || range.first - before->last == 1);
    if (continues)
      before->last = std::max(before->last, range.last);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

std::uint64_t total_bytes(const std::vector<AddressRange>& joined) {
  std::uint64_t total = 0;
  for (const AddressRange& range : joined) total += range.last - range.first + 1;
  return total;
}

std::uint64_t common_bytes(const std::vector<AddressRange>& a, const std::vector<AddressRange>& b) {
  std::uint64_t total = 0;
  for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
    const std::uint64_t first = std::max(one->first, other->first), last = std::min(one->last, other->last);
    if (one->section == other->section && first <= last) total += last - first + 1;
    if (std::tuple(one->section, one->last) < std::tuple(other->section, other->last))
      ++one;
    else
      ++other;
  }
  return total;
}

std::vector<AddressRange> executable_addresses(const Image& image) {
  std::vector<AddressRange> ranges;
  for (const CodeRange& code : image.executable_ranges())
    if (const auto range = AddressRange::make(code.address, code.size)) ranges.push_back(*range);
  join_ranges(ranges);
  return ranges;
}

} // namespace sframe::elf
