// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one step by the owner's information on the frame's procedure.

#pragma once

#include "sframe/remote/callback_space.h"
#include "sframe/unwind/save_locations.h"

#include <string_view>

namespace sframe::remote {

inline constexpr std::string_view procedure_stepper_name = "procedure";

/// `ok`: there were rules, and `result` is the result of the step, not yet checked. `own` and `locations`
/// (both given or neither) are the save locations of the frame's registers, and of its caller's.
RemoteStatus step_by_procedure(CallbackView& view, unwind::Memory& memory, const unwind::FrameState& frame,
                               unwind::FrameState& caller, unwind::StepResult& result,
                               const unwind::SaveLocations* own, unwind::SaveLocations* locations);

} // namespace sframe::remote
