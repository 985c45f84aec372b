// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much code a section covers, and finding P412.

#pragma once

#include "sframe/base/coverage.h"
#include "sframe/verify/findings.h"

#include <optional>

namespace sframe::verify {

class Input;

/// N log N in functions and FDEs.
Coverage coverage(const Input& input);

/// Reports what is below the required coverage.
void check_coverage(const Input& input, const Coverage& coverage, const RequiredCoverage& required,
                    Sink& sink);

} // namespace sframe::verify
