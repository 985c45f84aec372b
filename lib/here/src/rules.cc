// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.h"

#include <algorithm>

namespace sframe::walk::own {

static_assert(sizeof(Operation) == 8, "keys are the operations' bytes: no padding");

std::uint32_t RuleSet::number(std::span<const Operation> operations, std::uint8_t flags) {
  key_.assign(reinterpret_cast<const char*>(operations.data()), operations.size_bytes());
  key_.push_back(static_cast<char>(flags));
  const auto next = static_cast<std::uint32_t>(heads_.size());
  const auto [at, added] = numbers_.try_emplace(key_, next);
  if (added) {
    heads_.push_back({static_cast<std::uint32_t>(operations_.size()),
                      static_cast<std::uint16_t>(operations.size()), flags});
    operations_.insert(operations_.end(), operations.begin(), operations.end());
  }
  return at->second;
}

std::int32_t RuleSet::expression_place(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto [at, added] = places_.try_emplace(text, static_cast<std::int32_t>(expressions_.size()));
  if (added) expressions_ += text;
  return at->second;
}

void RuleSet::finish() {
  numbers_ = {};
  places_ = {};
  key_ = {};
  heads_.shrink_to_fit();
  operations_.shrink_to_fit();
  expressions_.shrink_to_fit();
}

std::size_t RuleSet::memory() const {
  return heads_.capacity() * sizeof(Head) + operations_.capacity() * sizeof(Operation) +
         expressions_.capacity();
}

/// Neighbours with one rule become one range.
void RowTable::add_start(std::uint32_t start, std::uint32_t rule) {
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
  const auto behind = std::ranges::upper_bound(starts_, offset);
  if (behind == starts_.begin()) return std::nullopt;
  const std::uint32_t rule = rules_[static_cast<std::size_t>(behind - starts_.begin()) - 1];
  return rule == uncovered ? std::nullopt : std::optional(rule);
}

void RowTable::finish() {
  starts_.shrink_to_fit();
  rules_.shrink_to_fit();
}

std::size_t RowTable::memory() const {
  return (starts_.capacity() + rules_.capacity()) * sizeof(std::uint32_t);
}

} // namespace sframe::walk::own
