// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a cache of rules by address, shared by all threads and signal handlers. An entry is one atomic
// word, so entries are never torn: a reader sees one complete write. A place has two entries: two functions
// of a stack that belong to the same place do not replace each other in each walk.
//
//   bits 28-63  the address without the bits that are the place: lookups are exact
//   bits 25-27  CachedRule::Kind, and whether the module can be unloaded
//   bits 0-24   a PlainRule as the ABI packs it
//
// The unit is an instruction: addresses inside one share an entry.

#pragma once

#include "host.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace sframe::here {

/// What a walk needs for an address, in 28 bits.
struct CachedRule {
  enum class Kind : std::uint32_t {
    plain,     ///< the packed rule is complete
    outermost, ///< no caller
    full,      ///< a PlainRule cannot represent it
    none,      ///< no rule
  };
  static constexpr unsigned bits = PlainRule::bits + 3;

  std::uint32_t word = static_cast<std::uint32_t>(Kind::none) << PlainRule::bits;

  static constexpr CachedRule make(Kind kind, bool unloadable, std::uint32_t packed = 0) {
    return {packed | static_cast<std::uint32_t>(kind) << PlainRule::bits |
            std::uint32_t{unloadable} << (PlainRule::bits + 2)};
  }
  constexpr Kind kind() const { return static_cast<Kind>(word >> PlainRule::bits & 3); }
  constexpr bool unloadable() const { return word >> (PlainRule::bits + 2) & 1; }
  /// The most frequent case, by one comparison.
  constexpr bool permanent_and_plain() const {
    static_assert(static_cast<std::uint32_t>(Kind::plain) == 0);
    return word >> PlainRule::bits == 0;
  }
  constexpr std::uint32_t packed() const { return word & ((1u << PlainRule::bits) - 1); }
};

class AtomicRuleCache {
public:
  /// The number of a pair of entries.
  using Place = std::size_t;
  static Place place_of(std::uint64_t address) {
    return static_cast<Place>((address >> host::instruction_shift ^ tag(address)) & (places - 1));
  }

  AtomicRuleCache() {
    // No code is at address 0, so these entries are valid.
    for (auto& pair : pairs_)
      for (auto& entry : pair) entry.store(CachedRule{}.word, std::memory_order_relaxed);
  }

  /// place_of(address), for the address that a walk reaches after one at the place `from`. The processor goes
  /// on with the place that followed `from` the first time, and compares later: it reads the next rule before
  /// it has the return address from the stack. Places are not replaced, so that threads do not write to each
  /// other's cache lines.
  Place place_after(Place from, std::uint64_t address) {
    const Place place = place_of(address);
    Place expected = next_[from].load(std::memory_order_relaxed);
    if (place == expected) [[likely]] {
      asm("" : "+r"(expected)); // otherwise compilers return `place`, for which the processor would wait
      return expected;
    }
    if (expected == no_place) next_[from].store(static_cast<std::uint16_t>(place), std::memory_order_relaxed);
    return place;
  }

  /// True if the address, which belongs to this place, has an entry, which is stored in `rule`.
  bool find(Place place, std::uint64_t address, CachedRule& rule) const {
    for (const auto& entry : pairs_[place]) {
      const std::uint64_t word = entry.load(std::memory_order_relaxed);
      rule.word = static_cast<std::uint32_t>(word & ((1u << CachedRule::bits) - 1));
      if (word >> CachedRule::bits == tag(address)) [[likely]]
        return true;
    }
    return false;
  }
  /// Replaces the older entry of a pair.
  void put(std::uint64_t address, CachedRule rule) {
    const std::uint64_t shifted = tag(address) << CachedRule::bits;
    if (shifted >> CachedRule::bits != tag(address)) return;
    auto& [newer, older] = pairs_[place_of(address)];
    const std::uint64_t before = newer.load(std::memory_order_relaxed);
    if (before >> CachedRule::bits != tag(address)) older.store(before, std::memory_order_relaxed);
    newer.store(shifted | rule.word, std::memory_order_relaxed);
  }

private:
  static constexpr unsigned place_bits = 11;
  static constexpr std::size_t places = 1u << place_bits;
  static constexpr Place no_place = 0; ///< in next_; the place 0 is not expected anywhere
  /// The tag and the place together identify the address.
  static std::uint64_t tag(std::uint64_t address) {
    return address >> (host::instruction_shift + place_bits);
  }

  std::array<std::array<std::atomic<std::uint64_t>, 2>, places> pairs_;
  std::array<std::atomic<std::uint16_t>, places> next_ = {}; ///< the place that followed the first time
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace sframe::here
