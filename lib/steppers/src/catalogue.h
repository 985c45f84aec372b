// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: names, descriptions and priorities of the ready steppers. They are the same for all ABIs, and can
// be listed without making a stepper.

#pragma once

#include "sframe/steppers/steppers.h"

namespace sframe::steppers {

inline constexpr StepperInfo sframe_info = {"sframe",
                                            "SFrame section of the module, inside it or in a sidecar", 10};
inline constexpr StepperInfo cfi_info = {"cfi", "DWARF CFI of the module: .eh_frame, .debug_frame", 20};
inline constexpr StepperInfo signal_info = {"signal", "registers that the kernel saved for a signal handler",
                                            30};
inline constexpr StepperInfo go_table_info = {"go-table",
                                              "function table of Go's linker, in stripped programs, too", 35};
inline constexpr StepperInfo bottom_info = {"bottom", "the program's entry point has no caller", 40};
inline constexpr StepperInfo shadow_stack_info = {
    "shadow-stack", "return address on the hardware shadow stack; others are checked by it", 100};
inline constexpr StepperInfo context_info = {
    "context", "return address at SP after a call to a non-executable address (heuristic)", 100};
inline constexpr StepperInfo analysis_info = {"analysis",
                                              "analysis of the function's machine code (heuristic)", 105};
inline constexpr StepperInfo frame_pointer_info = {"frame-pointer",
                                                   "frame record at the frame pointer (heuristic)", 110};
inline constexpr StepperInfo scan_info = {
    "scan", "next word on the stack that is the address after a call (heuristic; frames may be missing)",
    120};

/// A stepper that is in the catalogue.
template <const StepperInfo& info> class CataloguedStepper : public unwind::FrameStepper {
public:
  std::string_view name() const final { return info.name; }
  std::string_view description() const final { return info.description; }
  int priority() const final { return info.priority; }
};

} // namespace sframe::steppers
