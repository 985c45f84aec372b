// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether rows agree with the states of a visit. Most instructions change nothing that a row depends on.
//
//    RowFollower follower(abi);
//    results.visit([&](const Reached& at) {
//      const FrameRow* row = row_at(at.instruction.address);
//      if (!follower.agrees(row, at) && row) report(check(*row, at.state(), abi)); ...
//    });

#pragma once

#include "sframe/code/analysis.h"

#include <cstdint>

namespace sframe::code {

class RowFollower {
public:
  explicit RowFollower(const AbiTraits& abi) : abi_(&abi) {}

  /// True if check(*row, at.state(), abi) finds that all agrees; false without a row (nullptr). To be called
  /// for all instructions of a visit, in its order; rows keep their addresses and values during it. Constant
  /// cost.
  bool agrees(const FrameRow* row, const Reached& at) {
    // The row at the same address may be another: of an earlier visit, and outermost, which needs nothing.
    if (at.block_start) agreeing_ = nullptr;
    changed_ |= at.changed;
    if (!row) return false;
    return (row == agreeing_ && (changed_ & needed_) == 0) || follow(*row, at.state());
  }

private:
  bool follow(const FrameRow& row, const State& state);

  const AbiTraits* abi_;
  const FrameRow* agreeing_ = nullptr; ///< the last row, if it agreed
  std::uint64_t needed_ = 0;           ///< what it depends on, as Reached::changed
  std::uint64_t changed_ = 0;          ///< since then
};

} // namespace sframe::code
