// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one reader requires beyond the specification (lib/consumers): findings P401 to P410 and P413 to P416.
// Finds sections that a reader would reject or misread before they ship.

#pragma once

#include "sframe/consumers/consumers.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Reports what the reader does not accept. Linear in the functions and rows.
void check_profile(const Input& input, const consumers::Consumer& consumer, Sink& sink);

} // namespace sframe::verify
