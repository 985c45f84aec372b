// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit on work that a small input can request repeatedly: rows shared by all functions, entries split by
// others.

#pragma once

#include <cstdint>

namespace sframe::verify {

class WorkLimit {
public:
  explicit WorkLimit(std::uint64_t amount) : left_(amount) {}

  /// Subtracts `amount`. False, from now on, if more was requested than was left.
  bool spend(std::uint64_t amount) {
    if (amount > left_) left_ = 0, spent_ = true;
    if (spent_) return false;
    left_ -= amount;
    return true;
  }

private:
  std::uint64_t left_;
  bool spent_ = false;
};

} // namespace sframe::verify
