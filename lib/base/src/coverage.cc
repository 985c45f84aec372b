// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/coverage.h"

#include <cstdio>

namespace sframe {

double CoveredBytes::percent() const {
  if (total == 0) return 100;
  return 100 * static_cast<double>(covered) / static_cast<double>(total);
}

std::string percent_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                static_cast<double>(static_cast<std::uint64_t>(value * 100)) / 100);
  return text;
}

} // namespace sframe
