// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --min-coverage and --min-cfi-coverage, which sframe-gen and sframe-verify have.

#pragma once

#include "sframe/base/coverage.h"
#include "sframe/base/problem.h"

namespace sframe::tool {

class OptionList;

/// As typed; negative: not given.
struct CoverageOptions {
  double executable = -1, described = -1;
};

/// Declares both. The texts are for --help.
void add_coverage_options(OptionList& cli, CoverageOptions& options, const char* executable_text,
                          const char* described_text);

/// Fails for "nan".
Result<RequiredCoverage> required_coverage(const CoverageOptions& options);

} // namespace sframe::tool
