// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames of a recursion that say nothing new: those that repeat the ones before them, again and again.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sframe::unwind_tool {

/// `Place` is what is equal in frames that repeat one another.
template <typename Place> class RepeatedFrames {
public:
  /// Takes the next frame of a stack, in which they count from 0. True if it may be left out.
  bool add(std::uint32_t number, const Place& place) {
    if (number == 0) *this = {};
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
    if (left_out_.count++ == 0) left_out_.first = number - cycle, left_out_.last = number - 1;
    return true;
  }

  struct LeftOut {
    std::uint32_t first = 0, last = 0; ///< the frames that are repeated, by number
    std::uint32_t count = 0;           ///< how many repeat them
  };
  /// What was left out since the last call; `count` is 0 if nothing was.
  LeftOut take() { return std::exchange(left_out_, {}); }

private:
  static constexpr std::uint32_t longest = 8; ///< cycle of functions that call one another
  static constexpr std::uint32_t shown = 6;   ///< repeated frames that are kept

  std::array<Place, longest> last_{};              ///< a ring
  std::array<std::uint32_t, longest + 1> equal_{}; ///< per length of a cycle: frames in a row that repeat it
  std::uint32_t count_ = 0;                        ///< of the frames of this stack
  std::uint32_t cycle_ = 0;                        ///< that frames are left out of; 0: none are
  LeftOut left_out_;
};

} // namespace sframe::unwind_tool
