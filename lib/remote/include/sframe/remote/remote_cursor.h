// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk over a CallbackSpace, one frame at a time, with the functions of libunwind's cursor: save locations
// of registers, changing registers, resuming in an outer frame.
//
// A cursor is a value of fixed size: it can be copied, and owns nothing. The space must outlive it. For one
// thread at a time.

#pragma once

#include "sframe/remote/callback_space.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/save_locations.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::remote {

class RemoteCursor {
public:
  /// Reads the thread's registers; those that cannot be read are unknown. Fails if pc or SP cannot be read.
  RemoteStatus start(CallbackSpace& space, void* arg);

  /// Moves to the caller. On `bottom` (no caller) and `error` (reason in status()) the cursor does not move.
  /// Uses, in this order: find_procedure(), signal trampolines, modules and code registered by the program
  /// (_U_dyn_register(3)), heuristics except the stack scan: see trust(). Does not allocate if the rules are
  /// cached. `made` is set to what peek() would have returned before.
  unwind::StepStatus step(unwind::StepResult* made = nullptr);

  /// Why the last step() failed; `ok` otherwise.
  RemoteStatus status() const { return status_; }
  /// The same as a StopReason.
  unwind::StopReason reason() const { return reason_; }
  /// True if step() returned `bottom` and this is certain.
  bool complete() const { return complete_; }

  /// The frame, with its known registers.
  const unwind::FrameState& frame() const { return frame_; }
  /// True for a frame interrupted by a signal.
  bool interrupted() const { return frame_.pc_exact && !innermost_; }
  /// How the frame was found. The stepper's name is static.
  unwind::Trust trust() const { return trust_; }
  std::string_view stepper() const { return stepper_; }

  /// The result of the next step() without moving: has_cfa and cfa are the frame's, signal_frame is true if
  /// the frame was made by signal delivery. Costs a step, and calls the same accessors: if the step follows
  /// anyway, its argument is cheaper.
  unwind::StepResult peek() const;

  /// Where the frame's value of a register (or pc_register) is saved.
  unwind::SaveLocation save_location(std::uint16_t reg) const;

  /// Changes a register of the frame where it is saved: in memory or in the thread. A register saved
  /// nowhere, such as SP, is changed in the cursor only.
  RemoteStatus set_register(std::uint16_t reg, std::uint64_t value);

  /// Sets the thread's registers to those of this frame, then calls Accessors::resume().
  RemoteStatus resume();

  /// The frame's procedure, without rules: from the accessors, else as registered by the program.
  RemoteStatus find_procedure(ProcedureInfo& info) const;
  /// Its name and the offset of the pc, from Accessors::find_name() or the registration. The procedure is
  /// that of the call, not of the return address.
  RemoteStatus find_name(std::span<char> buffer, std::uint64_t& offset) const;

  CallbackSpace& space() const { return *space_; }
  void* arg() const { return arg_; }

private:
  struct [[gnu::visibility("hidden")]] Next;
  void find_next(Next& next, unwind::SaveLocations* locations) const;
  RemoteStatus step_exact(CallbackView& view, unwind::Memory& memory, unwind::FrameState& caller,
                          unwind::StepResult& result, unwind::SaveLocations* locations) const;
  modules::Module* generated_module() const;

  CallbackSpace* space_ = nullptr;
  void* arg_ = nullptr;
  std::uint64_t walk_ = 0; ///< key of the heuristics' caches
  unwind::FrameState frame_;
  unwind::SaveLocations locations_;
  std::string_view stepper_;
  RemoteStatus status_ = RemoteStatus::ok;
  unwind::StopReason reason_ = unwind::StopReason::none;
  unwind::Trust trust_ = unwind::Trust::exact;
  bool innermost_ = true;
  bool complete_ = false;
  bool may_skip_ = false;
};

} // namespace sframe::remote

#pragma GCC visibility pop
