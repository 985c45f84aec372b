// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses numbers, ranges and patterns that users type.

#include "sframe/tool/text.h"

#include <algorithm>
#include <charconv>

namespace sframe::tool {

namespace {

std::optional<std::uint64_t> parse(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

bool has_prefix(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X");
}

} // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  return has_prefix(text) ? parse(text.substr(2), 16) : parse(text, 10);
}

std::optional<std::uint64_t> parse_address(std::string_view text) {
  return parse(has_prefix(text) ? text.substr(2) : text, 16);
}

std::optional<AddressRange> parse_address_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  auto first = parse_address(text.substr(0, dash));
  auto last = dash == std::string_view::npos ? first : parse_address(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return AddressRange{*first, range_end(*last - *first, 1)};
}

Result<Glob> Glob::parse(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      if (++at == pattern.size()) return fail("pattern ends in a backslash");
      continue;
    }
    if (pattern[at] != '[') continue;
    std::size_t close = at + 1;
    if (close < pattern.size() && (pattern[close] == '!' || pattern[close] == '^')) ++close;
    close = pattern.find(']', close + 1); // a bracket right after the opening one is literal
    if (close == std::string_view::npos) return fail("pattern has an unclosed bracket");
    at = close;
  }
  return Glob(std::string(pattern));
}

/// Matches the pattern's element at `at` (not `*`) against one character; advances `at` past the element.
bool Glob::matches_one(std::size_t& at, unsigned char c) const {
  auto element = static_cast<unsigned char>(pattern_[at++]);
  if (element == '?') return true;
  if (element == '\\') return static_cast<unsigned char>(pattern_[at++]) == c;
  if (element != '[') return element == c;
  const bool negated = pattern_[at] == '!' || pattern_[at] == '^';
  at += negated;
  bool found = false;
  for (bool first = true; first || pattern_[at] != ']'; first = false) {
    const auto low = static_cast<unsigned char>(pattern_[at++]);
    auto high = low;
    if (pattern_[at] == '-' && pattern_[at + 1] != ']') {
      high = static_cast<unsigned char>(pattern_[at + 1]);
      at += 2;
    }
    found |= low <= c && c <= high;
  }
  ++at;
  return found != negated;
}

bool Glob::matches(std::string_view name) const {
  // On a mismatch, only the last `*` has to match one more character: extending earlier ones cannot help.
  std::size_t at = 0, in_name = 0;
  std::size_t after_star = std::string::npos, star_from = 0;
  std::string_view literal; // the characters after that `*` that stand for themselves: searching them is fast
  const auto skip_to_literal = [&] {
    star_from = in_name = std::min(name.find(literal, in_name), name.size());
  };
  while (in_name < name.size()) {
    if (at < pattern_.size() && pattern_[at] == '*') {
      after_star = ++at;
      literal = std::string_view(pattern_).substr(at, pattern_.find_first_of("*?[\\", at) - at);
      skip_to_literal();
      continue;
    }
    if (at < pattern_.size() && matches_one(at, static_cast<unsigned char>(name[in_name]))) {
      ++in_name;
      continue;
    }
    if (after_star == std::string::npos) return false;
    at = after_star;
    in_name = star_from + 1;
    skip_to_literal();
  }
  while (at < pattern_.size() && pattern_[at] == '*') ++at;
  return at == pattern_.size();
}

} // namespace sframe::tool
