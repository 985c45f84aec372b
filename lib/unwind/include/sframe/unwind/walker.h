// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk: from a thread's registers to its outermost frame, frame by frame, each by the first stepper that
// finds the caller.
//
//   sframe::unwind::Walker walker(process.space(), default_steppers(abi, main));
//   for (const auto& thread : process.threads()) {
//     auto end = walker.walk(thread.frame(), receiver);
//     if (!end.complete) report(describe(end));
//   }
//
// The walk checks the results of steppers: SP must grow from frame to frame, and no frame is its own
// caller. SP may shrink if a signal, or other code according to the stepper, may have switched stacks. The
// walk never invents a frame beyond the outermost one.

#pragma once

#include "sframe/unwind/plain_row.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/stepper_group.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::unwind {

struct Frame {
  std::uint32_t number = 0;
  bool pc_exact = true;      ///< as in FrameState
  bool after_fault = false;  ///< as in FrameState
  bool signal_frame = false; ///< the frame is a signal trampoline
  bool has_cfa = false;      ///< false if no stepper could determine it
  Trust trust = Trust::exact;
  std::uint64_t pc = 0;
  std::uint64_t cfa = 0;
  const FrameStepper* found_by = nullptr; ///< nullptr: the innermost frame

  std::uint64_t lookup_pc() const { return pc - (!pc_exact | after_fault); }
  /// In the instruction that is executed, by which the function has its name: no call precedes the first byte
  /// of a trampoline.
  std::uint64_t instruction_pc() const { return signal_frame ? pc : lookup_pc(); }
  std::string_view stepper() const { return found_by ? found_by->name() : "context"; }
};

class FrameReceiver {
public:
  /// Takes the next frame, with its known registers. False ends the walk.
  virtual bool frame(const Frame& frame, const Registers& registers) = 0;

protected:
  ~FrameReceiver() = default;
};

/// A return address on the stack that is not the one on the thread's hardware shadow stack: the stack was
/// overwritten. The walk has gone on with that of the shadow stack.
struct Overwritten {
  std::uint32_t frame = 0; ///< whose return address it is: the first such frame
  std::uint64_t found = 0; ///< what tables lead to
  std::uint64_t right = 0; ///< that of the shadow stack
};

/// How a walk ended.
struct WalkEnd {
  bool complete = false; ///< the last frame is the outermost one, and this is certain
  StopReason reason = StopReason::none;
  std::uint64_t detail = 0; ///< pc, address or register, depending on the reason
  std::optional<Overwritten> overwritten{};
};

/// The reason with its detail: "memory cannot be read (0x7ffd0010)".
std::string describe(const WalkEnd& end);

class Walker {
public:
  static constexpr std::uint32_t default_max_frames = 100'000;

  /// `space` must outlive the walker. Steppers are asked in the order of the group, which may be a plain
  /// StepperList.
  Walker(AddressSpace& space, StepperGroup steppers);

  /// Call this when the process has run since the last walk: drops what was read of memory. What steppers
  /// know of code is used as long as the space's generation() is the same. After exec, make a new walker:
  /// its steppers know the main module.
  void forget_memory() { memory_ = Memory(memory_.space()); }

  /// How many frames a walk may have; at first default_max_frames.
  void set_max_frames(std::uint32_t max) { max_frames_ = max; }
  /// How often a frame's rules were known, since the steppers last changed. Those of which each stepper knows
  /// more than one answer are asked again, and have a cache of their own.
  const CacheCounts& rule_counts() const { return known_.counts(); }
  /// May be changed between walks.
  StepperGroup& steppers() { return steppers_; }

  /// Walks from `start`, the registers of the innermost frame. Does not allocate. Cost: linear in the number
  /// of frames, at most max_frames. Frames are taken from the address space's budget, which others may
  /// share; once it is used up, walks end with StopReason::budget. The receiver may walk with the same
  /// walker, which then allocates, but not call step() or change the steppers.
  WalkEnd walk(const Registers& start, FrameReceiver& receiver);
  /// The same from any frame, for example one that an earlier walk found. It gets the number 0.
  WalkEnd walk(const FrameState& start, FrameReceiver& receiver);

  /// One step, for those who keep the frames themselves: finds the caller of any frame. Registers lost by
  /// earlier steps are not recovered. `by` is the stepper of the result.
  void step(const FrameState& frame, FrameState& caller, const FrameStepper*& by, StepResult& result) {
    since_checkpoint_ = 0;
    check_group();
    find_caller(frame, caller, by, result);
    caller.shadow = {};
  }

private:
  class [[gnu::visibility("hidden")]] Running;

  /// What the group's exact steppers answer at a position.
  struct Known : PlainRow {
    std::uint8_t first = 0; ///< the member to ask first: those before it do not apply
    bool is_plain = false;  ///< its answer is the row
  };

  void check_group();
  const Known& look_up(const FrameState& frame);
  void learn(const FrameState& frame, Known& known);
  const FrameStepper* stepper_of(const Known& known) const {
    return steppers_.members()[known.first].stepper.get();
  }
  bool go_plainly(FrameState& state, Frame& frame, FrameReceiver& receiver, std::uint32_t& count);
  void find_caller(const FrameState& frame, FrameState& caller, const FrameStepper*& by, StepResult& result);
  void ask_in_order(const FrameState& frame, FrameState& caller, const FrameStepper*& by, StepResult& result);
  void note_step(const FrameState& frame, const FrameStepper* by);
  void check_by_shadow(const FrameState& frame, std::uint32_t number, FrameState& caller,
                       const FrameStepper*& by, StepResult& result);
  void find_caller_by_guess(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                            StepResult& result);
  void recover_and_step(const FrameState& frame, FrameState& caller, const FrameStepper*& by,
                        StepResult& result);
  void ask_all(std::span<const StepperGroup::Member> members, const FrameState& frame, FrameState& caller,
               const FrameStepper*& by, StepResult& result);
  void ask(FrameStepper& stepper, const FrameState& frame, FrameState& caller, StepResult& result);
  void check(const FrameState& frame, FrameState& caller, StepResult& result);
  WalkEnd walk_frames(const FrameState& start, FrameReceiver& receiver, std::uint32_t& count);
  bool may_go_on(std::uint32_t frames);
  bool is_out_of_budget() const;

  Memory memory_;
  std::uint16_t sp_;
  StepperGroup steppers_;
  RuleCache<Known> known_;
  std::uint64_t known_group_ = 0; ///< version of the group that known_ is for
  std::uint32_t max_frames_ = default_max_frames;
  bool is_walking_ = false;
  /// The last frame with all registers known, and how many frames ago it was; 0: it is the current frame.
  FrameState checkpoint_;
  std::uint32_t since_checkpoint_ = 0;
  std::optional<Overwritten> overwritten_;
  Budget* budget_;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
