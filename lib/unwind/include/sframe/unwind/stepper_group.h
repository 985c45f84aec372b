// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame steppers of a walk: their order, and the addresses that each covers. The ready ones cover all
// addresses. A user's stepper for one region of code (generated code, a coroutine switch) is asked only for
// frames in that region, and costs other frames nothing.
//
//   sframe::unwind::StepperGroup group = default_steppers(abi, main);
//   group.add(std::make_unique<MyStepper>(), AddressRange::between(start, end));
//   sframe::unwind::Walker walker(space, std::move(group));
//
// A frame's address is its lookup_pc(): for a frame that made a call, an address in the call instruction.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/unwind/frame_stepper.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// Not for concurrent use. May be changed between walks, not during one.
class StepperGroup {
public:
  struct Member {
    std::unique_ptr<FrameStepper> stepper;
    bool everywhere = true;
    AddressSet ranges; ///< unless `everywhere`

    /// Cost: constant if `everywhere`, else logarithmic in the number of ranges.
    bool covers(std::uint64_t address) const { return everywhere || ranges.contains(address); }
  };

  StepperGroup() = default;
  /// The steppers of the list, in its order, for all addresses. Implicit: a list is the simplest group.
  StepperGroup(StepperList steppers);

  /// Adds a stepper for all addresses, after those with the same or a lower priority. Returns it.
  FrameStepper& add(std::unique_ptr<FrameStepper> stepper);
  /// The same for one range. If the range is empty, the stepper covers nothing until extend().
  FrameStepper& add(std::unique_ptr<FrameStepper> stepper, AddressRange where);
  /// Adds a range to a stepper that does not cover all addresses; ranges may overlap. False if there is no
  /// such stepper. Cost: linear in its ranges.
  bool extend(std::string_view name, AddressRange where);

  /// Replaces the stepper of that name, for the same addresses, and returns the old one. If there is none,
  /// returns nullptr and has no effect.
  std::unique_ptr<FrameStepper> replace(std::string_view name, std::unique_ptr<FrameStepper> stepper);
  /// Removes and returns the stepper of that name; nullptr if there is none.
  std::unique_ptr<FrameStepper> remove(std::string_view name);

  /// The first stepper of that name, or nullptr.
  FrameStepper* find(std::string_view name) const;
  /// The next stepper for a frame at `address` after `last_tried` (nullptr: the first one); nullptr if there
  /// are no more. Walkers use exact() and heuristic() instead.
  FrameStepper* find_for(std::uint64_t address, const FrameStepper* last_tried = nullptr) const;

  /// In the order in which they are asked.
  std::span<const Member> members() const { return members_; }
  /// Those before the first with a priority of 100 or more; they give exact answers.
  std::span<const Member> exact() const { return members().first(exact_count_); }
  /// All others.
  std::span<const Member> heuristic() const { return members().subspan(exact_count_); }
  /// Another number after each change of the group, and for each group.
  std::uint64_t version() const { return version_; }
  /// The first stepper for all addresses that recovers all registers, or nullptr.
  FrameStepper* recovering() const { return recovering_; }
  /// The first stepper for all addresses that checks others, or nullptr.
  FrameStepper* checking() const { return checking_; }

private:
  std::vector<Member>::iterator place_of(std::string_view name);
  FrameStepper& insert(Member member);
  void changed();

  std::vector<Member> members_;
  std::size_t exact_count_ = 0;
  FrameStepper* recovering_ = nullptr;
  FrameStepper* checking_ = nullptr;
  std::uint64_t version_ = 0;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
