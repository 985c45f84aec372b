// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in its source a program crashed: a first answer, before the stacks.

#pragma once

#include "names.h"

#include "sframe/process/process_state.h"
#include "sframe/unwind/walker.h"
#include "sframe/variables/variables.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sframe::unwind_tool {

struct CrashPlace {
  std::uint32_t frame = 0;
  std::string function; ///< that of the frame, or one inlined there
  std::vector<variables::Variable> arguments;
  modules::SourceLine at;
};

/// The innermost function of the program's own code that has debug information, and the one of these that
/// called it: not in a library of the system, of a language's standard library, or of those that signatures
/// leave out; nor in a module with much debug information, which takes long to open, unless `symbolizer` does
/// so anyway. Tells `symbolizer` if nothing is found for that reason. At most two; looks at a limited number
/// of frames, from `start` on, which has the number `number`. `steppers` as for Symbolizer. Changes the
/// walker's limit of frames.
std::vector<CrashPlace> find_places(const unwind::FrameState& start, std::uint32_t number,
                                    process::ProcessState& process, unwind::Walker& walker,
                                    Symbolizer& symbolizer, unwind::StepperList steppers);

} // namespace sframe::unwind_tool
