// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares SFrame with the CFI (.eh_frame, and .debug_frame for what that does not cover) at every address:
// findings C101 to C113.
//
// Both are swept together by address, one interval at a time: addresses are not sampled, and none is compared
// twice. Repeating blocks (PCMASK functions, the CFA expression of x86 PLTs) are compared for one common
// period.

#pragma once

#include "sframe/builder.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

namespace sframe::verify {

/// True if the input has CFI to compare with.
bool has_cfi(const Input& input);

/// Reports differences by address and adds a verdict for every function that has CFI for some of its
/// addresses. Returns the number of bytes of code that were compared. Does nothing without CFI, or if the
/// section's ABI is not that of the CFI. Time N log N in functions and FDEs, linear in rows and instructions;
/// memory for functions and FDEs, not for rows. Where the CFI has rows that the section's reader cannot use,
/// SFrame need not have them (C108). `code`: where rows differ and the code confirms SFrame, that is no
/// contradiction (C116).
std::uint64_t check_against_cfi(const Input& input, Verdicts& verdicts, Sink& sink,
                                const UsableRows& usable = {}, bool code = false);

} // namespace sframe::verify
