// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coverage: how many bytes of code are in functions of a section, as sframe-gen and sframe-verify count it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe {

struct CoveredBytes {
  std::uint64_t total = 0;
  std::uint64_t covered = 0;

  /// Percentage of covered bytes; 100 if there are none.
  double percent() const;
};

/// In percent; what is not required is empty.
struct RequiredCoverage {
  std::optional<double> executable; ///< of all executable bytes
  std::optional<double> described;  ///< of the bytes that call frame information describes

  bool any() const { return executable || described; }
};

/// With two decimals, rounded down, so that 100.00 means complete.
std::string percent_text(double value);

} // namespace sframe

#pragma GCC visibility pop
