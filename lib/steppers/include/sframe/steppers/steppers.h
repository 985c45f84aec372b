// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ready frame steppers, in the order in which a walk asks them (and their priority):
//
// - sframe (10): a row of the module's SFrame section.
// - cfi (20): a row of its DWARF CFI; recovers all registers.
// - signal (30): the registers saved by the kernel, if the pc is at a signal trampoline.
// - go-table (35): the sizes of frames in the function table of Go's linker. A thread on its system stack is
//   followed back to the goroutine's stack on AMD64; that is heuristic if the function that left the
//   goroutine's stack was called by a pointer.
// - bottom (40): code without tables at the program's entry point has no caller.
// - shadow-stack (100): the thread's hardware shadow stack, if it has one; exact. Return addresses that
//   others find are checked by it, and corrected (FrameStepper::check).
// - context (100): the word at SP, if the innermost frame called a non-executable address.
// - analysis (105): the function's machine code (code_frames.h), if the return address found follows a call.
// - frame-pointer (110): the frame record at FP, if its return address follows a call. If the function's
//   code shows that FP does not point to a record yet, or no longer: the result of the code analysis. If the
//   ABI has no frame record: the code analysis, or the back chain.
// - scan (120): a word at a higher stack address that follows a call and whose own caller is plausible.
//
// The last four are heuristic.
//
// Each keeps the ABI's data it needs and a cache of rules by address, of fixed size. Not for concurrent use:
// one list per thread.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/frame_stepper.h"

#include <memory>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::steppers {

/// Name, description and priority of a stepper; see FrameStepper.
struct StepperInfo {
  std::string_view name, description;
  int priority = 0;
};

/// The steppers that default_steppers() makes for any ABI, by priority. Static.
std::span<const StepperInfo> ready_steppers();

// One stepper each, as listed above. `abi` and `main` must outlive the stepper; the traits that
// sframe::traits() returns are static.
std::unique_ptr<unwind::FrameStepper> make_sframe_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_cfi_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_signal_stepper(const AbiTraits& abi);
/// If `main` is nullptr, the stepper answers "not mine".
std::unique_ptr<unwind::FrameStepper> make_go_table_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_bottom_stepper(modules::Module* main);
std::unique_ptr<unwind::FrameStepper> make_shadow_stack_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_context_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_analysis_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_frame_pointer_stepper(const AbiTraits& abi);
std::unique_ptr<unwind::FrameStepper> make_scan_stepper(const AbiTraits& abi);

/// All of them, by priority; the same lifetimes.
unwind::StepperList default_steppers(const AbiTraits& abi, modules::Module* main);

/// Those that recover all registers before the others, for who wants more of each frame than pc and SP.
void put_all_registers_first(unwind::StepperList& steppers);

/// The steppers listed in `names` ("sframe,cfi"), in that order. Fails for an unknown or repeated name and
/// for an empty list.
Result<unwind::StepperList> select_steppers(unwind::StepperList all, std::string_view names);

} // namespace sframe::steppers

#pragma GCC visibility pop
