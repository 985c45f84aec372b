// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.h"

#include <algorithm>
#include <cstring>

namespace sframe::here {

static_assert(sizeof(Operation) == 8, "compared and hashed as bytes: no padding");

namespace {

std::uint64_t hash_of(const CompiledRule& rule) {
  return hash_bytes(std::as_bytes(rule.operations)) + rule.flags;
}

} // namespace

std::uint32_t RulePool::number(std::span<const Operation> operations, std::uint8_t flags) {
  if (failed_) return 0;
  const auto next = static_cast<std::uint32_t>(heads_.size());
  const std::uint32_t number = numbers_.find_or_add(
      hash_of({operations, flags}), next,
      [&](std::uint32_t other) {
        const CompiledRule known = rule(other);
        return known.flags == flags && known.operations.size() == operations.size() &&
               std::memcmp(known.operations.data(), operations.data(), operations.size_bytes()) == 0;
      },
      [&](std::uint32_t other) { return hash_of(rule(other)); });
  if (number != next) return number;
  heads_.push_back(
      {static_cast<std::uint32_t>(operations_.size()), static_cast<std::uint16_t>(operations.size()), flags});
  operations_.append(operations);
  failed_ = numbers_.failed() || heads_.failed() || operations_.failed();
  return number;
}

std::int32_t RulePool::expression_offset(std::span<const std::byte> bytes) {
  if (failed_) return 0;
  const auto next = static_cast<std::uint32_t>(expression_ranges_.size());
  const std::uint32_t number = expression_numbers_.find_or_add(
      hash_bytes(bytes), next,
      [&](std::uint32_t other) { return std::ranges::equal(bytes_of(expression_ranges_[other]), bytes); },
      [&](std::uint32_t other) { return hash_bytes(bytes_of(expression_ranges_[other])); });
  if (number == next) {
    const auto start = static_cast<std::uint32_t>(expressions_.size());
    expressions_.append(bytes);
    expression_ranges_.push_back({start, static_cast<std::uint32_t>(bytes.size())});
    failed_ = expression_numbers_.failed() || expressions_.failed() || expression_ranges_.failed();
    if (failed_) return 0;
  }
  return static_cast<std::int32_t>(expression_ranges_[number].start);
}

bool RulePool::finish() {
  numbers_.clear();
  expression_numbers_.clear();
  expression_ranges_ = {};
  heads_.trim();
  operations_.trim();
  expressions_.trim();
  return !failed_;
}

std::size_t RulePool::memory() const {
  return heads_.memory() + operations_.memory() + expressions_.memory();
}

/// Adjacent ranges with the same rule are merged.
void RowTable::add_start(std::uint32_t start, std::uint32_t rule) {
  if (starts_.failed() || rules_.failed()) return;
  while (!starts_.empty() && starts_.back() >= start) {
    starts_.pop_back();
    rules_.pop_back();
  }
  if (!rules_.empty() && rules_.back() == rule) return;
  starts_.push_back(start);
  rules_.push_back(rule);
}

void RowTable::add(std::uint32_t begin, std::uint32_t end, std::uint32_t rule) {
  add_start(begin, rule);
  add_start(end, uncovered);
}

std::optional<std::uint32_t> RowTable::find(std::uint32_t offset) const {
  const auto after = std::ranges::upper_bound(starts_, offset);
  if (after == starts_.begin()) return std::nullopt;
  const std::uint32_t rule = rules_[static_cast<std::size_t>(after - starts_.begin()) - 1];
  return rule == uncovered ? std::nullopt : std::optional(rule);
}

bool RowTable::finish() {
  starts_.trim();
  rules_.trim();
  return !starts_.failed() && !rules_.failed();
}

std::size_t RowTable::memory() const {
  return starts_.memory() + rules_.memory();
}

} // namespace sframe::here
