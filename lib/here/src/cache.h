// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a cache of rules by address, shared by all threads and signal handlers. An entry is one atomic
// word, so entries are never torn: a reader sees one complete write.
//
//   bits 28-63  the address without the bits that are the entry's index: lookups are exact
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
  constexpr std::uint32_t packed() const { return word & ((1u << PlainRule::bits) - 1); }
};

class AtomicRuleCache {
public:
  AtomicRuleCache() {
    // No code is at address 0, so these entries are valid.
    for (auto& entry : entries_) entry.store(CachedRule{}.word, std::memory_order_relaxed);
  }

  /// True if the address has an entry, which is stored in `rule`.
  bool find(std::uint64_t address, CachedRule& rule) const {
    const std::uint64_t entry = entries_[number(address)].load(std::memory_order_relaxed);
    rule.word = static_cast<std::uint32_t>(entry & ((1u << CachedRule::bits) - 1));
    return entry >> CachedRule::bits == tag(address);
  }
  void put(std::uint64_t address, CachedRule rule) {
    const std::uint64_t shifted = tag(address) << CachedRule::bits;
    if (shifted >> CachedRule::bits == tag(address))
      entries_[number(address)].store(shifted | rule.word, std::memory_order_relaxed);
  }

private:
  static constexpr unsigned number_bits = 12;
  static std::uint64_t tag(std::uint64_t address) {
    return address >> (host::instruction_shift + number_bits);
  }
  /// The tag and this index together identify the address.
  static std::size_t number(std::uint64_t address) {
    return static_cast<std::size_t>((address >> host::instruction_shift ^ tag(address)) &
                                    ((1u << number_bits) - 1));
  }

  std::array<std::atomic<std::uint64_t>, 1u << number_bits> entries_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace sframe::here
