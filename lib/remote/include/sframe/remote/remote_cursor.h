// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk over a CallbackSpace that the caller drives, one frame after another, with all that libunwind's
// cursor can tell: where registers are saved, changing them, going on in an outer frame.
//
// A cursor is a value of fixed size: it can be copied, and owns nothing. The space must outlive it. It is for
// one thread at a time.

#pragma once

#include "sframe/remote/callback_space.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/save_locations.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sframe::remote {

class RemoteCursor {
public:
  /// Reads the registers of the thread; those that cannot be read are not known. Fails where pc or SP cannot.
  RemoteStatus start(CallbackSpace& space, void* arg);

  /// Goes to the caller. `bottom`: there is none, and the cursor stays. `error`: it stays, too, and status()
  /// tells why. Asks find_procedure(), then the code for a signal trampoline, then modules and what the
  /// program registered (_U_dyn_register(3)), then guesses (not by a scan of the stack): trust() tells.
  /// Allocates nothing where the rules are in a cache. `made` gets what peek() would have said before.
  unwind::StepStatus step(unwind::StepResult* made = nullptr);

  /// Why the last step() failed; `ok` otherwise.
  RemoteStatus status() const { return status_; }
  /// The same in terms of a walk.
  unwind::StopReason reason() const { return reason_; }
  /// True where step() said `bottom` by exact knowledge.
  bool complete() const { return complete_; }

  /// The frame, with what is known of its registers.
  const unwind::FrameState& frame() const { return frame_; }
  /// True for a frame that a signal interrupted.
  bool interrupted() const { return frame_.pc_exact && !innermost_; }
  /// How the frame was found. The stepper's name is static.
  unwind::Trust trust() const { return trust_; }
  std::string_view stepper() const { return stepper_; }

  /// What the next step() would say, before it is done: has_cfa and cfa are the frame's, signal_frame tells
  /// whether the frame was made by signal delivery. Costs a step, and asks the accessors as that does: where
  /// the step follows anyhow, its argument is for less.
  unwind::StepResult peek() const;

  /// Where the frame's value of a register (or pc_register) is kept.
  unwind::SaveLocation save_location(std::uint16_t reg) const;

  /// Changes a register of the frame where it is kept: in memory or in the thread. A register that is kept
  /// nowhere, as SP, is changed in the cursor only.
  RemoteStatus set_register(std::uint16_t reg, std::uint64_t value);

  /// Makes the thread's registers those of this frame, then asks Accessors::resume().
  RemoteStatus resume();

  /// The procedure of the frame, without rules: as the accessors know it, else as the program registered it.
  RemoteStatus find_procedure(ProcedureInfo& info) const;
  /// Its name and the offset of the pc, as Accessors::find_name() or the registration says; the call, not
  /// what follows it, decides.
  RemoteStatus find_name(std::span<char> buffer, std::uint64_t& offset) const;

  CallbackSpace& space() const { return *space_; }
  void* arg() const { return arg_; }

private:
  struct Next;
  void find_next(Next& next, unwind::SaveLocations* locations) const;
  RemoteStatus step_exact(CallbackView& view, unwind::Memory& memory, unwind::FrameState& caller,
                          unwind::StepResult& result, unwind::SaveLocations* locations) const;
  modules::Module* generated_module() const;

  CallbackSpace* space_ = nullptr;
  void* arg_ = nullptr;
  std::uint64_t walk_ = 0; ///< what guesses are remembered under
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
