// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "repeats.h"

#include <utility>

namespace sframe::unwind_tool {

bool RepeatedFrames::add(const unwind::Frame& frame) {
  if (frame.number == 0) *this = {};
  const Place place{frame.pc, frame.found_by};
  std::uint32_t cycle = 0; // the shortest that has been seen often enough
  for (std::uint32_t length = longest; length > 0; --length) {
    const bool repeats = count_ >= length && last_[(count_ - length) % longest] == place;
    equal_[length] = repeats ? equal_[length] + 1 : 0;
    if (equal_[length] > shown && equal_[length] > 2 * length) cycle = length;
  }
  last_[count_++ % longest] = place;
  if (cycle_ != 0 && equal_[cycle_] != 0) cycle = cycle_;
  cycle_ = cycle;
  if (cycle == 0) return false;
  if (left_out_.count++ == 0) left_out_.first = frame.number - cycle, left_out_.last = frame.number - 1;
  return true;
}

RepeatedFrames::LeftOut RepeatedFrames::take() {
  return std::exchange(left_out_, {});
}

} // namespace sframe::unwind_tool
