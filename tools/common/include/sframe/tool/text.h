// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses user input: addresses, address ranges, and name patterns.

#pragma once

#include "sframe/address.h"
#include "sframe/base/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::tool {

/// "0x1f" (also "0X1F") or, without a prefix, decimal. Empty for anything else, or beyond 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// A number in hexadecimal, with or without "0x".
std::optional<std::uint64_t> parse_address(std::string_view text);

/// "A" or "A-B" (both inclusive), hexadecimal. Empty if B < A.
std::optional<AddressRange> parse_address_range(std::string_view text);

/// A shell pattern for names: `*`, `?`, `[abc]`, `[a-z]`, `[!x]`, and backslash to quote a character. The
/// whole name must match. Costs at most the length of the name times that of the pattern.
class Glob {
public:
  /// Fails for an unclosed bracket, or a backslash at the end.
  static Result<Glob> parse(std::string_view pattern);

  bool matches(std::string_view name) const;
  const std::string& pattern() const { return pattern_; }

private:
  explicit Glob(std::string pattern) : pattern_(std::move(pattern)) {}
  bool matches_one(std::size_t& at, unsigned char c) const;
  std::string pattern_;
};

} // namespace sframe::tool
