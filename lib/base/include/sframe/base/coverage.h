// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coverage: how many bytes of code are in functions of a section, as sframe-gen and sframe-verify count it.

#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace sframe {

struct CoveredBytes {
  std::uint64_t total = 0;
  std::uint64_t covered = 0;

  /// Percentage of covered bytes; 100 if there are none.
  double percent() const;
};

/// With two decimals, rounded down, so that 100.00 means complete.
std::string percent_text(double value);

} // namespace sframe

#pragma GCC visibility pop
