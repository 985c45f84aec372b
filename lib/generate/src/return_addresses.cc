// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "return_addresses.h"

#include <algorithm>

namespace sframe::generate {

namespace {

/// A padding instruction is not longer.
constexpr std::uint64_t max_padding = 16;

} // namespace

ReturnAddresses::ReturnAddresses(const CfiInput& input, const AddressSet& described)
    : input_(input), described_(described), calls_(*input.abi) {}

std::uint64_t ReturnAddresses::padding_after(std::uint64_t begin, std::uint64_t end) {
  const auto code = std::ranges::upper_bound(input_.code, end, {}, &AddressRange::start);
  if (code == input_.code.begin() || !std::prev(code)->contains(end)) return 0;
  std::uint64_t limit = std::prev(code)->end();
  if (const auto next = described_.from(end); !next.empty()) {
    if (next.front().start <= end) return 0;
    limit = std::min(limit, next.front().start);
  }
  // Cheaper than the call, which few functions end with.
  const auto after = input_.image->read(end, std::min(limit - end, max_padding));
  const std::uint32_t size = after ? calls_.padding(*after, end) : 0;
  if (size == 0) return 0;
  const auto code_before = input_.image->read(begin, end - begin);
  return code_before && calls_.ends_with_call(*code_before, begin, input_.image->budget()) ? size : 0;
}

} // namespace sframe::generate
