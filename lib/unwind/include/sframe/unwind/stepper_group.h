// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame steppers of a walk: in which order they are asked, and for which addresses. The ready ones are
// for all addresses; a stepper of the user's for one region of code (generated code, the switch between
// coroutines) is asked for frames in that region only, and costs others nothing.
//
//   sframe::unwind::StepperGroup group = default_steppers(abi, main);
//   group.add(std::make_unique<MyStepper>(), {region_start, region_end});
//   sframe::unwind::Walker walker(space, std::move(group));
//
// A frame is where its lookup_pc() is: the call, for a frame that was called.

#pragma once

#include "sframe/unwind/frame_stepper.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sframe::unwind {

/// Not for concurrent use, and not to be changed during a walk; between walks it may be.
class StepperGroup {
public:
  struct Member {
    std::unique_ptr<FrameStepper> stepper;
    bool everywhere = true;
    std::vector<AddressRange> ranges; ///< unless `everywhere`: sorted, no two touch

    /// Cost: constant for a member that is everywhere, else logarithmic in its ranges.
    bool covers(std::uint64_t address) const { return everywhere || is_in_ranges(address); }

  private:
    bool is_in_ranges(std::uint64_t address) const;
  };

  StepperGroup() = default;
  /// Those of the list, in its order, for all addresses. Implicit: a list is the simplest group.
  StepperGroup(StepperList steppers);

  /// Adds a stepper for all addresses, behind those that have its priority or a lower one and before the
  /// first with a higher one. Returns it.
  FrameStepper& add(std::unique_ptr<FrameStepper> stepper);
  /// The same for one range. An empty range is none: the stepper waits for extend().
  FrameStepper& add(std::unique_ptr<FrameStepper> stepper, AddressRange where);
  /// Adds a range to a stepper that is not for all addresses; ranges may overlap. False where no such stepper
  /// has the name. Cost: linear in its ranges.
  bool extend(std::string_view name, AddressRange where);

  /// Puts `stepper` in the place of the one with that name, for the same addresses, and returns the former
  /// one; nullptr, and no effect, where there is none.
  std::unique_ptr<FrameStepper> replace(std::string_view name, std::unique_ptr<FrameStepper> stepper);
  /// Takes the stepper out and returns it; nullptr where there is none of that name.
  std::unique_ptr<FrameStepper> remove(std::string_view name);

  /// The first stepper of that name, or nullptr.
  FrameStepper* find(std::string_view name) const;
  /// The stepper to ask for a frame at `address` after `last_tried`, which nullptr stands before; nullptr
  /// where there are no more. Walkers go through exact() and heuristic() instead.
  FrameStepper* find_for(std::uint64_t address, const FrameStepper* last_tried = nullptr) const;

  /// In the order in which they are asked.
  std::span<const Member> members() const { return members_; }
  /// Those before the first whose priority is 100 or higher; they give exact answers.
  std::span<const Member> exact() const { return members().first(exact_count_); }
  /// All others.
  std::span<const Member> heuristic() const { return members().subspan(exact_count_); }
  /// The first stepper for all addresses that recovers all registers, or nullptr.
  FrameStepper* recovering() const { return recovering_; }

private:
  std::vector<Member>::iterator place_of(std::string_view name);
  FrameStepper& insert(Member member);
  void changed();

  std::vector<Member> members_;
  std::size_t exact_count_ = 0;
  FrameStepper* recovering_ = nullptr;
};

} // namespace sframe::unwind
