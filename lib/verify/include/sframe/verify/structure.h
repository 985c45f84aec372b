// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a section on its own, and its header and functions against its file: findings S001 to S026. Most are
// errors that the reader (sframe/section.h) reports; this names them, continues after them, and adds what is
// legal but wrong or wasteful.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Reports problems in the section's order, then overlaps and functions outside the code by address. N log N
/// in the functions, linear in their rows; memory for functions. Shared rows are read once per function, up
/// to a limit far above real sections (S004).
void check_structure(const Input& input, Sink& sink);

} // namespace sframe::verify
