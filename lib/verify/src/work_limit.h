// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound on work that a small input can ask for again and again: rows that all functions share, entries cut
// in pieces by others.

#pragma once

#include <cstdint>

namespace sframe::verify {

class WorkLimit {
public:
  explicit WorkLimit(std::uint64_t amount) : left_(amount) {}

  /// False, from now on, where more was asked for than there was.
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
