// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what find_procedure() led to, ready to be applied, and the table in which it is cached.

#pragma once

#include "remote/remote_cfi.h"
#include "steppers/compiled_row.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sframe::walk {

struct ProcedureRules {
  bool by_row = false; ///< `row` holds, else `compiled`
  bool signal_frame = false;
  FrameRow row;
  CompiledRow compiled;
  RemoteCfi cfi; ///< what `compiled` may refer to
};

/// A table of fixed size that a new address overwrites. An entry is right for one epoch of one space, so that
/// nothing needs to be erased when a space is flushed or ends.
class RuleTable {
public:
  using Rules = std::shared_ptr<const ProcedureRules>;

  explicit RuleTable(std::size_t size) : entries_(std::bit_ceil(size)) {}

  const Rules* find(std::uint64_t epoch, const FrameState& frame) const {
    const Entry& entry = entries_[slot(frame)];
    return entry.epoch == epoch && entry.pc == frame.registers.pc && entry.exact == frame.pc_exact
               ? &entry.rules
               : nullptr;
  }
  void put(std::uint64_t epoch, const FrameState& frame, Rules rules) {
    entries_[slot(frame)] = {epoch, frame.registers.pc, frame.pc_exact, std::move(rules)};
  }
  void forget(std::uint64_t first, std::uint64_t last) {
    for (Entry& entry : entries_)
      if (entry.pc - first < last - first) entry = {};
  }
  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::uint64_t epoch = 0; ///< 0: empty
    std::uint64_t pc = 0;
    bool exact = false;
    Rules rules;
  };
  std::size_t slot(const FrameState& frame) const {
    return (frame.registers.pc * 0x9e3779b97f4a7c15 >> 32) & (entries_.size() - 1);
  }
  std::vector<Entry> entries_;
};

} // namespace sframe::walk
