// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame stepper knows one way to get from a frame to its caller. A walk has several, in order of priority;
// each answers "stepped", "bottom of the stack", "not mine" or "error", and the next one is asked after the
// latter two. steppers.h has the ready ones; users of the library add theirs.

#pragma once

#include "sframe/unwind/address_space.h"
#include "sframe/unwind/registers.h"
#include "sframe/unwind/stop_reason.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sframe::unwind {

/// How far a frame can be believed: exact ones follow from tables that say how to find them, heuristic ones
/// are likely.
enum class Trust : std::uint8_t { exact, heuristic };

/// A frame on the way: registers as they were when its callee was called (or when it was interrupted).
struct FrameState {
  Registers registers;
  /// The pc is that of the next instruction to run: the innermost frame, and one that a signal interrupted.
  /// Otherwise it is a return address, and the call before it is what tells where the frame is.
  bool pc_exact = true;
  /// The pc is exact, but the instruction before it is where the frame is: it raised a signal and did nothing
  /// (UnwindAbi::signals_behind_fault). The walker clears it in callers.
  bool behind_fault = false;

  /// The address to look up in tables.
  std::uint64_t lookup_pc() const { return registers.pc - (!pc_exact | behind_fault); }
};

enum class StepStatus : std::uint8_t {
  stepped,
  bottom,   ///< this frame has no caller
  not_mine, ///< nothing is known of such a frame
  error,    ///< it is known, but cannot be done; StepResult::reason says why
};

struct StepResult {
  StepStatus status = StepStatus::not_mine;
  Trust trust = Trust::exact;
  bool signal_frame =
      false; ///< the frame was made by signal delivery: the caller was interrupted, not calling
  bool has_cfa = false;
  bool may_skip = false; ///< there may be frames between this one and the caller
  bool other_stack =
      false; ///< the caller is on another stack (a signal frame's may be, too): SP need not grow
  bool same_stack =
      false; ///< the caller has no frame of its own, but a part of its code elsewhere: SP may stay as it is
  std::uint64_t cfa = 0;
  StopReason reason = StopReason::none;
  std::uint64_t detail = 0; ///< address that cannot be read, or number of the unknown register

  /// True where nobody else needs to be asked.
  bool settled() const { return status == StepStatus::stepped || status == StepStatus::bottom; }

  static StepResult not_mine() { return {}; }
  static StepResult failed(StopReason why, std::uint64_t detail = 0) {
    return {.status = StepStatus::error, .reason = why, .detail = detail};
  }
};

class FrameStepper {
public:
  virtual ~FrameStepper() = default;

  /// The name in --steppers and in output; static.
  virtual std::string_view name() const = 0;
  /// One line for --list-steppers; static.
  virtual std::string_view description() const = 0;
  /// Lower ones are asked first. Those of exact steppers are below 100.
  virtual int priority() const = 0;

  /// Finds the caller of `frame`. On `stepped`, `caller` is complete; otherwise what is in it means nothing.
  /// Allocates nothing after the first calls for a module.
  virtual StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) = 0;

  /// True for a stepper that recovers all registers which the caller relies on, not only SP, FP and RA.
  virtual bool recovers_all_registers() const { return false; }
};

/// Turns a step that makes no sense into an error: the caller is the frame itself, or further down the stack
/// (a signal may have switched stacks). `sp` is the number of the stack pointer.
void check_step(const FrameState& frame, const FrameState& caller, std::uint16_t sp, StepResult& result);

using StepperList = std::vector<std::unique_ptr<FrameStepper>>;

} // namespace sframe::unwind
