// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: rules by address, in a table of fixed size that a new address overwrites. Stacks repeat the same
// few hundred return addresses, so nearly every step finds its rule here and touches no table of the module.
// Lookups that found nothing are kept, too.

#pragma once

#include "sframe/walk/frame_stepper.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sframe::walk {

template <class Rules> class RuleCache {
public:
  static constexpr std::size_t size = 1024;

  RuleCache() : entries_(size) {}

  struct Entry {
    std::uint64_t pc = 0;
    bool pc_exact = false;
    bool behind_fault = false;
    bool used = false;
    Rules rules;
  };

  /// The rules for a frame's address; `make(rules)` fills them in where they are not there.
  template <class Make> const Rules& find(const FrameState& frame, Make&& make) {
    const std::uint64_t pc = frame.registers.pc;
    Entry& entry = entries_[(pc * 0x9e3779b97f4a7c15) >> 54];
    static_assert(size == 1 << 10);
    if (entry.used && entry.pc == pc && entry.pc_exact == frame.pc_exact &&
        entry.behind_fault == frame.behind_fault)
      return entry.rules;
    entry.pc = pc;
    entry.pc_exact = frame.pc_exact;
    entry.behind_fault = frame.behind_fault;
    entry.used = true;
    make(entry.rules);
    return entry.rules;
  }

private:
  std::vector<Entry> entries_;
};

} // namespace sframe::walk
