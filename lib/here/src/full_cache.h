// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a cache of rules with all registers by address, shared by all threads and signal handlers. Nobody
// waits: an entry has a number that is odd while somebody writes it. Readers that see it odd, or changed
// afterwards, do without; so do writers that see it odd. A writer that is interrupted and never goes on costs
// one entry.

#pragma once

#include "host.h"
#include "mapped_memory.h"
#include "rule.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sframe::here {

class FullRuleCache {
public:
  FullRuleCache() { words_.fill(entries * entry_words); }

  /// False if memory ran out.
  bool complete() const { return !words_.failed(); }
  std::size_t memory() const { return words_.memory(); }

  /// The rule for the address, with its operations in `to`, if there is an entry. `section`: of the address.
  std::optional<FrameRule> find(std::uint64_t address, std::span<const std::byte> section,
                                Operations& to) const {
    const std::size_t place = place_of(address);
    const std::uint64_t sequence = load(place);
    const std::uint64_t size_and_flags = load(place + 2);
    if (sequence % 2 || load(place + 1) != address) return std::nullopt;
    const std::size_t count = size_and_flags >> 8;
    if (count > to.size()) return std::nullopt; // two entries' words
    for (std::size_t i = 0; i < count; ++i) to[i] = std::bit_cast<Operation>(load(place + 3 + i));
    if (load(place) != sequence) return std::nullopt;
    return FrameRule{std::span(to).first(count), static_cast<std::uint8_t>(size_and_flags), section};
  }

  void put(std::uint64_t address, const FrameRule& rule) const {
    const std::size_t place = place_of(address);
    std::uint64_t sequence = load(place);
    if (sequence % 2 ||
        !word(place).compare_exchange_strong(sequence, sequence + 1, std::memory_order_acquire))
      return;
    store(place + 1, address);
    store(place + 2, rule.operations.size() << 8 | rule.flags);
    for (std::size_t i = 0; i < rule.operations.size(); ++i)
      store(place + 3 + i, std::bit_cast<std::uint64_t>(rule.operations[i]));
    store(place, sequence + 2);
  }

private:
  static constexpr std::size_t entries = 256;
  static constexpr std::size_t entry_words = 3 + std::tuple_size_v<Operations>;

  static std::size_t place_of(std::uint64_t address) {
    return ((address >> host::instruction_shift) * 0x9e3779b97f4a7c15 >> 56) * entry_words;
  }
  std::atomic_ref<std::uint64_t> word(std::size_t place) const {
    return std::atomic_ref(const_cast<std::uint64_t&>(words_[place]));
  }
  // Each load is ordered before later ones, each store after earlier ones.
  std::uint64_t load(std::size_t place) const { return word(place).load(std::memory_order_acquire); }
  void store(std::size_t place, std::uint64_t value) const {
    word(place).store(value, std::memory_order_release);
  }

  /// Of each entry: number, address, size and flags, operations. In memory of its own, whose pages are not
  /// touched before they are used.
  Array<std::uint64_t> words_;
};

} // namespace sframe::here
