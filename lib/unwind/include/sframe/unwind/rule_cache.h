// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules by address, in a table of fixed size; a new address overwrites an old one. Stacks repeat the same
// few hundred return addresses, so nearly every step finds its rule here and reads no table of the module.
// Failed lookups are cached, too.

#pragma once

#include "sframe/unwind/frame_stepper.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sframe::unwind {

/// All properties of a frame on which its rules depend.
struct RuleKey {
  RuleKey() = default;
  explicit RuleKey(const FrameState& frame)
      : pc(frame.registers.pc), pc_exact(frame.pc_exact), behind_fault(frame.behind_fault) {}

  std::uint64_t lookup_pc() const { return pc - (!pc_exact | behind_fault); }
  /// The slot in a table of 2^bits entries.
  std::size_t slot(int bits) const { return (pc * 0x9e3779b97f4a7c15) >> (64 - bits); }

  friend bool operator==(const RuleKey&, const RuleKey&) = default;

  std::uint64_t pc = 0;
  bool pc_exact = false;
  bool behind_fault = false;
};

template <class Rules> class RuleCache {
public:
  static constexpr int bits = 10;
  static constexpr std::size_t size = std::size_t{1} << bits;

  RuleCache() : entries_(size) {}

  struct Entry {
    RuleKey key;
    bool used = false;
    Rules rules;
  };

  /// The rules for a frame's address; on a miss, `make(rules)` fills them in.
  template <class Make> Rules& find(const FrameState& frame, Make&& make) {
    const RuleKey key(frame);
    Entry& entry = entries_[key.slot(bits)];
    if (entry.used && entry.key == key) return entry.rules;
    entry.used = false; // make() may throw when memory runs out
    entry.key = key;
    make(entry.rules);
    entry.used = true;
    return entry.rules;
  }

private:
  std::vector<Entry> entries_;
};

} // namespace sframe::unwind
