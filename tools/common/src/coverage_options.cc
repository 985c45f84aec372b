// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/coverage_options.h"

#include "sframe/tool/app.h"

#include <cmath>

namespace sframe::tool {

void add_coverage_options(OptionList& cli, CoverageOptions& options, const char* executable_text,
                          const char* described_text) {
  const auto add = [&](const char* name, double& percent, const char* text) {
    cli.add_option(name, percent, text).range(0.0, 100.0).type_name("PERCENT");
  };
  add("--min-coverage", options.executable, executable_text);
  add("--min-cfi-coverage", options.described, described_text);
}

Result<RequiredCoverage> required_coverage(const CoverageOptions& options) {
  // The check of the range does not find it.
  if (std::isnan(options.executable) || std::isnan(options.described))
    return fail("--min-coverage and --min-cfi-coverage need a number");
  RequiredCoverage required;
  if (options.executable >= 0) required.executable = options.executable;
  if (options.described >= 0) required.described = options.described;
  return required;
}

} // namespace sframe::tool
