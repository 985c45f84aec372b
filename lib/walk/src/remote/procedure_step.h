// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one step by what the owner of the target says of the frame's procedure.

#pragma once

#include "sframe/walk/callback_space.h"
#include "sframe/walk/save_locations.h"

#include <string_view>

namespace sframe::walk {

inline constexpr std::string_view procedure_stepper_name = "procedure";

/// `ok`: there are rules, and `result` is what came of them; not checked yet. `own` and `locations` are both
/// given or neither: where the registers of the frame are kept, and those of its caller.
RemoteStatus step_by_procedure(CallbackView& view, Memory& memory, const FrameState& frame,
                               FrameState& caller, StepResult& result, const SaveLocations* own,
                               SaveLocations* locations);

} // namespace sframe::walk
