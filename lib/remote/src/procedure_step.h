// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one step by what the owner of the target says of the frame's procedure.

#pragma once

#include "sframe/remote/callback_space.h"
#include "sframe/unwind/save_locations.h"

#include <string_view>

namespace sframe::remote {

inline constexpr std::string_view procedure_stepper_name = "procedure";

/// `ok`: there are rules, and `result` is what came of them; not checked yet. `own` and `locations` are both
/// given or neither: where the registers of the frame are kept, and those of its caller.
RemoteStatus step_by_procedure(CallbackView& view, unwind::Memory& memory, const unwind::FrameState& frame,
                               unwind::FrameState& caller, unwind::StepResult& result,
                               const unwind::SaveLocations* own, unwind::SaveLocations* locations);

} // namespace sframe::remote
