// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one reader requires beyond the specification (lib/readers): findings P401 to P410 and P413 to P416.
// Finds sections that a reader would reject or misread before they ship.

#pragma once

#include "sframe/readers/readers.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Reports what the reader does not accept. Linear in the functions and rows.
void check_profile(const Input& input, const readers::Reader& reader, Sink& sink);

} // namespace sframe::verify
