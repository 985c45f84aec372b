// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the file's two CFI sections: .eh_frame and .debug_frame (C112).

#pragma once

#include "sframe/verify/input.h"

namespace sframe::verify {

/// Compares addresses for which both have rules. Faults of .debug_frame are reported too.
void check_frame_sections(const Input& input, Sink& sink);

} // namespace sframe::verify
