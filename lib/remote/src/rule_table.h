// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: compiled results of find_procedure(), and the table in which they are cached.

#pragma once

#include "sframe/unwind/compiled_row.h"
#include "sframe/unwind/rule_cache.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sframe::remote {

/// Does not refer to the data of find_procedure().
struct ProcedureRules {
  bool by_row = false; ///< use `row`, else `compiled`
  bool signal_frame = false;
  FrameRow row;
  unwind::CompiledRow compiled;
};

/// A table of fixed size; a new address overwrites an old one. An entry is valid for one epoch of one space,
/// so nothing is erased when a space is flushed or destroyed.
class RuleTable {
public:
  using Rules = std::shared_ptr<const ProcedureRules>;

  explicit RuleTable(std::size_t size)
      : bits_(std::max(static_cast<int>(std::bit_width(std::bit_ceil(size))) - 1, 1)),
        entries_(std::size_t{1} << bits_) {}

  const Rules* find(std::uint64_t epoch, const unwind::FrameState& frame) const {
    const unwind::RuleKey key(frame);
    const Entry& entry = entries_[key.slot(bits_)];
    return entry.epoch == epoch && entry.key == key ? &entry.rules : nullptr;
  }
  void put(std::uint64_t epoch, const unwind::FrameState& frame, Rules rules) {
    const unwind::RuleKey key(frame);
    entries_[key.slot(bits_)] = {epoch, key, std::move(rules)};
  }
  /// Drops entries found by an address in [first, last): that of the call, if the pc is a return address.
  /// The pc counts, too, since the code there was read.
  void forget(std::uint64_t first, std::uint64_t last) {
    const auto in_range = [&](std::uint64_t address) { return address - first < last - first; };
    for (Entry& entry : entries_)
      if (in_range(entry.key.lookup_pc()) || in_range(entry.key.pc)) entry = {};
  }
  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::uint64_t epoch = 0; ///< 0: empty
    unwind::RuleKey key;
    Rules rules;
  };
  int bits_; ///< log2 of the number of entries_
  std::vector<Entry> entries_;
};

} // namespace sframe::remote
