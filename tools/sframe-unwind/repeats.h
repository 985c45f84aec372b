// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames of a recursion that say nothing new: those that repeat the ones before them, again and again.

#pragma once

#include "sframe/unwind/walker.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sframe::unwind_tool {

class RepeatedFrames {
public:
  /// Takes the next frame of a stack. True if it may be left out.
  bool add(const unwind::Frame& frame);

  struct LeftOut {
    std::uint32_t first = 0, last = 0; ///< the frames that are repeated, by number
    std::uint32_t count = 0;           ///< how many repeat them
  };
  /// What was left out since the last call; `count` is 0 if nothing was.
  LeftOut take();

private:
  struct Place {
    std::uint64_t pc = 0;
    const unwind::FrameStepper* by = nullptr;
    bool operator==(const Place&) const = default;
  };
  static constexpr std::uint32_t longest = 8; ///< cycle of functions that call one another
  static constexpr std::uint32_t shown = 6;   ///< repeated frames that are kept

  std::array<Place, longest> last_;                ///< a ring
  std::array<std::uint32_t, longest + 1> equal_{}; ///< per length of a cycle: frames in a row that repeat it
  std::uint32_t count_ = 0;                        ///< of the frames of this stack
  std::uint32_t cycle_ = 0;                        ///< that frames are left out of; 0: none are
  LeftOut left_out_;
};

} // namespace sframe::unwind_tool
