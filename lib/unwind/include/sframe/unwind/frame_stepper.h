// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame stepper finds the caller of a frame by one method. A walk asks several, in order of priority. Each
// answers "stepped", "bottom of the stack", "not mine" or "error"; after "not mine" and "error" the next one
// is asked. steppers/steppers.h has the ready ones; users of the library can add their own.

#pragma once

#include "sframe/unwind/address_space.h"
#include "sframe/unwind/hardware_shadow.h"
#include "sframe/unwind/registers.h"
#include "sframe/unwind/stop_reason.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// How reliable a frame is: exact frames follow from tables, heuristic ones are likely.
enum class Trust : std::uint8_t { exact, heuristic };

/// A frame during a walk: its registers at the time of the call to its callee, or of the interruption.
struct FrameState {
  Registers registers;
  /// The pc is the next instruction to run: in the innermost frame, and in one that a signal interrupted.
  /// Otherwise it is a return address, and the call before it is the frame's position.
  bool pc_exact = true;
  /// The pc is exact, but the frame's position is the instruction before it, which raised a signal and had
  /// no effect (UnwindAbi::signals_after_fault). The walker clears it in callers.
  bool after_fault = false;
  /// Where the frame's return address is on the thread's hardware shadow stack, if that is known. The walker
  /// sets it in callers.
  HardwareShadow shadow;
  /// The code is of another mode of the processor: no stepper applies, and the walk ends. The walker sets it
  /// in callers.
  bool other_mode = false;
  /// FP is that of a frame further in, which the code in between need not have left as it was: what needs it
  /// is heuristic. The walker clears it in callers.
  bool fp_is_guess = false;

  /// The address to look up in tables.
  std::uint64_t lookup_pc() const { return registers.pc - (!pc_exact | after_fault); }
};

enum class StepStatus : std::uint8_t {
  stepped,
  bottom,         ///< this frame has no caller
  not_applicable, ///< this stepper does not cover the frame
  error,          ///< the frame is covered, but the step failed; StepResult::reason has the reason
};

struct StepResult {
  StepStatus status = StepStatus::not_applicable;
  Trust trust = Trust::exact;
  bool signal_frame = false; ///< the frame is a signal frame: its caller was interrupted
  bool has_cfa = false;
  bool may_skip = false;    ///< there may be frames between this one and the caller
  bool other_stack = false; ///< the caller may be on another stack, as after a signal: SP need not grow
  bool same_stack =
      false; ///< the caller shares this frame (a part of its code elsewhere): SP may be unchanged
  std::uint64_t cfa = 0;
  StopReason reason = StopReason::none;
  std::uint64_t detail = 0; ///< address that cannot be read, or number of the unknown register

  /// True if no other stepper needs to be asked.
  bool is_final() const { return status == StepStatus::stepped || status == StepStatus::bottom; }

  /// The answer for a frame that the stepper does not cover.
  static StepResult not_applicable() { return {}; }
  /// The answer for a frame that it covers but cannot step.
  static StepResult failed(StopReason why, std::uint64_t detail = 0) {
    return {.status = StepStatus::error, .reason = why, .detail = detail};
  }
};

class PlainRow;

/// What a stepper's answers for all frames at one position have in common (RuleKey).
enum class PositionAnswer : std::uint8_t {
  unknown,        ///< nothing: step() has to be asked for each frame
  not_applicable, ///< step() has this answer for all of them
  plain_row,      ///< step() applies this row to all of them
};

class FrameStepper {
public:
  virtual ~FrameStepper() = default;

  /// The name in --steppers and in output; static.
  virtual std::string_view name() const = 0;
  /// One line for --list-steppers; static.
  virtual std::string_view description() const = 0;
  /// Steppers with lower priorities are asked first. Exact steppers have priorities below 100.
  virtual int priority() const = 0;

  /// Finds the caller of `frame`. On `stepped`, `caller` is complete; otherwise its contents are
  /// unspecified. Does not allocate after the first calls for a module.
  virtual StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) = 0;

  /// The answers for all frames at the position of `frame`: its pc, pc_exact and after_fault. Walkers keep
  /// them, and do not ask again before the space's generation() changes. Sets `row` for `plain_row`.
  virtual PositionAnswer at_position(const FrameState& frame, Memory& memory, PlainRow& row) {
    static_cast<void>(frame), static_cast<void>(memory), static_cast<void>(row);
    return PositionAnswer::unknown;
  }

  /// True for a stepper that recovers all registers that the caller relies on, not only SP, FP and RA.
  virtual bool recovers_all_registers() const { return false; }

  /// True for a stepper whose check() is to be asked about the steps of others.
  virtual bool checks_others() const { return false; }
  /// Checks the step from `frame`, whose `shadow` is set, to `caller`, which another stepper has found. Sets
  /// `caller.shadow`. True if the return address is wrong; then `caller` and `result` are corrected.
  virtual bool check(const FrameState& frame, Memory& memory, FrameState& caller, StepResult& result) {
    static_cast<void>(frame), static_cast<void>(memory), static_cast<void>(result);
    caller.shadow = {};
    return false;
  }
};

/// Turns an invalid step into an error: the caller is the frame itself, or is below it (unless a signal may
/// have switched stacks). `sp` is the register number of the stack pointer.
void check_step(const FrameState& frame, const FrameState& caller, std::uint16_t sp, StepResult& result);

using StepperList = std::vector<std::unique_ptr<FrameStepper>>;

} // namespace sframe::unwind

#pragma GCC visibility pop
