// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ready frame steppers, in the order in which a walk asks them (and their priority):
//
// - sframe (10): a row of the module's SFrame section.
// - cfi (20): a row of its DWARF CFI; recovers all registers.
// - signal (30): the registers that the kernel saved, where the pc is at a signal trampoline.
// - bottom (40): code without tables at the program's entry point has no caller.
// - context (100): the word at SP, where the innermost frame called an address that is no code.
// - analysis (105): what the function's machine code says (code_frames.h), if its return address follows a
//   call.
// - frame-pointer (110): the frame record at FP, if the return address in it follows a call. Where the
//   function's code shows that FP does not point to one yet, or no more: what the code says. Where the ABI
//   has no such record: what the code says, or the back chain.
// - scan (120): a word further up the stack that follows a call and whose own caller makes sense.
//
// The last four are heuristic.
//
// Each keeps what it needs of the ABI, and a cache of rules by address of a fixed size. Not for concurrent
// use: one list per thread.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/frame_stepper.h"

#include <memory>
#include <span>
#include <string_view>

namespace sframe::steppers {

/// How a stepper presents itself; see FrameStepper.
struct StepperInfo {
  std::string_view name, description;
  int priority = 0;
};

/// What default_steppers() makes for any ABI, by priority. Static.
std::span<const StepperInfo> ready_steppers();

std::unique_ptr<unwind::FrameStepper> make_sframe_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_cfi_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_signal_stepper(const AbiTraits& abi);
/// `main` may be nullptr: then it answers "not mine".
std::unique_ptr<unwind::FrameStepper> make_bottom_stepper(modules::Module* main);
std::unique_ptr<unwind::FrameStepper> make_context_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_analysis_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_frame_pointer_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_scan_stepper(const AbiTraits& abi);

/// All of them, by priority.
unwind::StepperList default_steppers(const AbiTraits& abi, modules::Module* main);

/// Those that `names` lists ("sframe,cfi"), in that order. Fails for an unknown or repeated name and for an
/// empty list.
Result<unwind::StepperList> select_steppers(unwind::StepperList all, std::string_view names);

} // namespace sframe::steppers
