// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules by address, in a table of fixed size; a new address overwrites an old one. Stacks repeat the same
// few hundred return addresses, so nearly every step finds its rule here and reads no table of the module.
// What is not in the cache is inserted with the key of the lookup that missed it.

#pragma once

#include "sframe/address.h"
#include "sframe/unwind/frame_stepper.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// All properties of a frame on which its rules depend, and the generation of what they are made from.
class RuleKey {
public:
  /// `generation` is less than 2^62, and not 0: that of the address space. Entries of another generation are
  /// not found.
  RuleKey(const FrameState& frame, std::uint64_t generation)
      : pc_(frame.registers.pc), rest_(generation << 2 | frame.pc_exact << 1 | frame.after_fault) {}

private:
  template <class> friend class RuleCache;

  RuleKey() = default; ///< equals no other key
  std::uint64_t lookup_pc() const { return pc_ - ((rest_ & 3) != 2); }
  friend bool operator==(const RuleKey&, const RuleKey&) = default;

  std::uint64_t pc_ = 0, rest_ = 0;
};

/// Lookups since a cache was made.
struct CacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0; ///< tables of the module were read, or had no answer before either

  friend bool operator==(const CacheCounts&, const CacheCounts&) = default;
};

template <class Rules> class RuleCache {
public:
  static constexpr std::size_t usual_size = 1024;

  /// For `size` rules, rounded up to a power of two; allocated for the first of them, since most steppers of
  /// a walker are never asked.
  explicit RuleCache(std::size_t size = usual_size)
      : size_(std::bit_ceil(std::max(size, least_size))), entries_(least_size) {}

  /// The rules for the key; on a miss, `make(rules)` fills in those of a former entry. The reference is valid
  /// until the next insert(), forget() or find() with `make`.
  template <class Make> Rules& find(const RuleKey& key, Make&& make) {
    if (Entry& entry = entries_[slot(key)]; entry.key == key) {
      ++counts_.hits;
      return entry.rules;
    }
    ++counts_.misses;
    allocate();
    Entry& entry = entries_[slot(key)];
    entry.key = RuleKey(); // make() may throw when memory runs out
    make(entry.rules);
    entry.key = key;
    return entry.rules;
  }

  /// The rules for the key, or nullptr: then insert() takes the same key. Valid as above.
  const Rules* find(const RuleKey& key) {
    const Entry& entry = entries_[slot(key)];
    const bool is_hit = entry.key == key;
    ++(is_hit ? counts_.hits : counts_.misses);
    return is_hit ? &entry.rules : nullptr;
  }
  /// Replaces the entry in the key's place.
  void insert(const RuleKey& key, Rules rules) {
    allocate();
    entries_[slot(key)] = {key, std::move(rules)};
  }

  /// Drops entries found by an address in the range: that of the call, if the pc is a return address. The pc
  /// counts, too, since the code there was read.
  void forget(AddressRange range) {
    for (Entry& entry : entries_)
      if (range.contains(entry.key.lookup_pc()) || range.contains(entry.key.pc_)) entry = {};
  }

  const CacheCounts& counts() const { return counts_; }

private:
  struct Entry {
    RuleKey key;
    Rules rules;
  };
  std::size_t slot(const RuleKey& key) const { return (key.pc_ * 0x9e3779b97f4a7c15) >> shift_; }

  void allocate() {
    if (entries_.size() == size_) return;
    entries_ = std::vector<Entry>(size_);
    shift_ = 64 - std::countr_zero(size_);
  }

  static constexpr std::size_t least_size = 2;

  std::size_t size_;
  int shift_ = 64 - std::countr_zero(least_size);
  std::vector<Entry> entries_; ///< of the least size until the first entry
  CacheCounts counts_;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
