// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound on what shared rows can cost. Functions may share their rows, so a small section can name many more rows than it has bytes:
// who stores something per row must refuse at some point. A function costs at least 16 bytes of index, and a section that shares rows
// saves most on short functions, so a real one stays near one row per byte.

#pragma once

#include "sframe/section.h"

namespace sframe::format {

class RowBudget {
public:
  explicit RowBudget(const Section& section) : left_(section.bytes().size() * max_rows_per_byte) {}

  /// False when the section has named more rows than any real one does.
  bool spend(std::uint64_t rows) {
    if (rows > left_) return false;
    left_ -= rows;
    return true;
  }

private:
  static constexpr std::uint64_t max_rows_per_byte = 16;
  std::uint64_t left_;
};

} // namespace sframe::format
