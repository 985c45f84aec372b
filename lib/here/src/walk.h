// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the walk itself. Nearly all frames are plain (PlainRule): from one to the next takes SP, FP and
// the return address, and three loads at most, from the cache and the stack. A frame that needs more (an
// expression, a register that a frame further in has saved, a signal frame) is stepped with all registers. To
// have these, the steps from the last frame with all registers known, the checkpoint, are done again in full;
// then that frame is the checkpoint. So no frame is stepped more than twice.

#pragma once

#include "snapshot.h"
#include "step.h"

#include "sframe/here/here.h"

namespace sframe::here {

/// Async-signal-safe.
class Walk {
public:
  /// The first `skip` frames, counted from the start frame's caller, are not put into `frames`.
  Walk(const Snapshot& snapshot, std::span<std::uint64_t> frames, std::size_t skip)
      : snapshot_(snapshot), frames_(frames), skip_(skip) {}

  /// Walks from the registers of a frame, whose pc is that of its next instruction. Its callers are put into
  /// the frames; itself, before them, only `with_start`.
  Callers run(const unwind::Registers& start, bool with_start);

  /// The address at which the walk ended because its tables are missing or out of date; 0 where it did not.
  std::uint64_t missing_tables() const { return missing_tables_; }

private:
  /// What a plain step takes.
  struct Position {
    std::uint64_t lookup_pc, sp, fp;
  };
  /// Where plain steps end: with the walk, unless `end` is none; else at a frame of the kind `next`.
  struct Pause {
    unwind::StopReason end = unwind::StopReason::none;
    CachedRule::Kind next = CachedRule::Kind::none;
  };

  bool emit(std::uint64_t pc);
  bool is_current(std::uint64_t pc);
  Pause go_plain(Position at, StackMemory& memory);
  unwind::StopReason step_fully(Frame& frame, StackMemory& memory);
  unwind::StopReason step_at_edge(Frame& frame, StackMemory& memory);
  unwind::StopReason go(Frame& checkpoint, StackMemory& memory);

  const Snapshot& snapshot_;
  std::span<std::uint64_t> frames_;
  std::size_t skip_;
  std::size_t count_ = 0;                            ///< in frames_
  std::size_t plain_steps_ = 0;                      ///< since the checkpoint
  std::uint64_t checked_low_ = 0, checked_size_ = 0; ///< the module last seen to be loaded still
  std::uint64_t missing_tables_ = 0;
};

} // namespace sframe::here
