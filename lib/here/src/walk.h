// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the walk. Nearly all frames are plain (PlainRule): a step from one to the next needs only SP, FP
// and the return address, and three loads at most, from the cache and the stack. A frame that needs more (an
// expression, a register saved by an inner frame, a signal frame) is stepped with all registers. For these,
// the steps from the checkpoint, the last frame with all registers known, are repeated in full; that frame
// is then the checkpoint. So no frame is stepped more than twice.

#pragma once

#include "snapshot.h"
#include "step.h"

#include "sframe/here/here.h"

#include <algorithm>

namespace sframe::here {

/// Async-signal-safe.
class Walk {
public:
  /// The first `skip` frames, counted from the start frame's caller, are not stored in `frames`.
  Walk(const Snapshot& snapshot, std::span<std::uint64_t> frames, std::size_t skip)
      : snapshot_(snapshot), frames_(frames), count_(0 - std::min(skip, most_skipped)) {}

  /// Walks from the registers of a frame, whose pc is that of its next instruction. Stores its callers in
  /// `frames`, after itself if `with_start`.
  Callers run(const unwind::Registers& start, bool with_start);

  /// The address at which the walk ended because tables are missing or out of date; 0 if it did not.
  std::uint64_t missing_tables() const { return missing_tables_; }

private:
  /// The state of plain steps.
  struct Position {
    std::uint64_t lookup_pc, sp, fp;
  };
  /// The end of a run of plain steps: the end of the walk, unless `end` is none; else a frame of the kind
  /// `next`.
  struct Pause {
    unwind::StopReason end = unwind::StopReason::none;
    CachedRule::Kind next = CachedRule::Kind::none;
  };

  bool emit(std::uint64_t pc);
  bool is_current(std::uint64_t pc);
  bool has_rule(std::uint64_t pc) const;
  bool read_in_place(std::uint64_t pc);
  std::optional<FrameRule> full_rule(const ModuleTables& module, std::uint64_t pc, Operations& to) const;
  Pause go_plain(Position at, StackMemory& memory);
  unwind::StopReason step_fully(WalkFrame& frame, StackMemory& memory);
  unwind::StopReason step_at_edge(WalkFrame& frame, StackMemory& memory);
  unwind::StopReason go(WalkFrame& checkpoint, StackMemory& memory);

  static constexpr std::size_t most_skipped = ~std::size_t{0} / 2; ///< more than any stack has

  const Snapshot& snapshot_;
  std::span<std::uint64_t> frames_;
  std::size_t count_; ///< in frames_; less than 0 as long as frames are skipped
  std::uint64_t checked_low_ = 0, checked_size_ = 0; ///< the module last checked to be loaded
  std::optional<ModuleTables> in_place_;             ///< the tables of that module, if it is not recognisable
  std::uint64_t missing_tables_ = 0;
};

} // namespace sframe::here
