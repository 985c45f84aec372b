// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing SFrame with the CFI (.eh_frame, and .debug_frame for what that does not cover) at every address:
// findings C101 to C113.
//
// Both are swept together by address, interval by interval, so that no address is sampled and none is
// compared twice. Blocks that repeat (PCMASK functions, the CFA expression of x86 PLTs) are compared for one
// common period, which stands for all.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

namespace sframe::verify {

/// True where the input has CFI to compare with.
bool has_cfi(const Input& input);

/// Reports differences by address and adds a verdict for every function that has CFI for some of its addresses. Returns
/// how many bytes of code were compared. Without CFI, and for sections of another ABI than the CFI's, does nothing. Time
/// N log N in functions and FDEs, linear in rows and instructions; memory for functions and FDEs, not for rows.
std::uint64_t check_against_cfi(const Input& input, Verdicts& verdicts, Sink& sink);

} // namespace sframe::verify
