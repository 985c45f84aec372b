// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a section by itself, and of its header and functions against the file that it is in: the findings
// S001 to S023. Most of them are what the reader (sframe/section.h) refuses; this names them, goes on behind
// them, and adds what is legal but wrong or wasted.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Reports what is wrong, in the section's order, then overlaps and functions outside the code by address.
/// N log N in the functions, linear in their rows; memory for functions. Functions that share their rows are
/// read as often as they are named, up to a bound far beyond real sections (S004).
void check_structure(const Input& input, Sink& sink);

} // namespace sframe::verify
