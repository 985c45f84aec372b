// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/stepper_group.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace sframe::unwind {

namespace {

constexpr int first_heuristic_priority = 100;

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

} // namespace

StepperGroup::StepperGroup(StepperList steppers) {
  members_.reserve(steppers.size());
  for (auto& stepper : steppers) members_.push_back({.stepper = std::move(stepper), .ranges = {}});
  changed();
}

FrameStepper& StepperGroup::add(std::unique_ptr<FrameStepper> stepper) {
  return insert({.stepper = std::move(stepper), .ranges = {}});
}

FrameStepper& StepperGroup::add(std::unique_ptr<FrameStepper> stepper, AddressRange where) {
  Member member{.stepper = std::move(stepper), .everywhere = false, .ranges = {}};
  member.ranges.add(where);
  return insert(std::move(member));
}

FrameStepper& StepperGroup::insert(Member member) {
  const int priority = member.stepper->priority();
  const auto before = std::ranges::find_if(
      members_, [&](const Member& other) { return other.stepper->priority() > priority; });
  FrameStepper& added = *members_.insert(before, std::move(member))->stepper;
  changed();
  return added;
}

bool StepperGroup::extend(std::string_view name, AddressRange where) {
  const auto at = std::ranges::find_if(
      members_, [&](const Member& member) { return !member.everywhere && member.stepper->name() == name; });
  if (at == members_.end()) return false;
  at->ranges.add(where);
  version_ = next_version();
  return true;
}

std::vector<StepperGroup::Member>::iterator StepperGroup::place_of(std::string_view name) {
  return std::ranges::find_if(members_, [&](const Member& member) { return member.stepper->name() == name; });
}

std::unique_ptr<FrameStepper> StepperGroup::replace(std::string_view name,
                                                    std::unique_ptr<FrameStepper> stepper) {
  const auto at = place_of(name);
  if (at == members_.end()) return nullptr;
  auto former = std::exchange(at->stepper, std::move(stepper));
  changed();
  return former;
}

std::unique_ptr<FrameStepper> StepperGroup::remove(std::string_view name) {
  const auto at = place_of(name);
  if (at == members_.end()) return nullptr;
  auto former = std::move(at->stepper);
  members_.erase(at);
  changed();
  return former;
}

FrameStepper* StepperGroup::find(std::string_view name) const {
  for (const Member& member : members_)
    if (member.stepper->name() == name) return member.stepper.get();
  return nullptr;
}

FrameStepper* StepperGroup::find_for(std::uint64_t address, const FrameStepper* last_tried) const {
  auto at = members_.begin();
  if (last_tried) {
    at = std::ranges::find_if(members_, [&](const Member& m) { return m.stepper.get() == last_tried; });
    if (at != members_.end()) ++at;
  }
  at = std::find_if(at, members_.end(), [&](const Member& member) { return member.covers(address); });
  return at == members_.end() ? nullptr : at->stepper.get();
}

/// Updates what every step uses.
void StepperGroup::changed() {
  const auto is_guess = [](const Member& m) { return m.stepper->priority() >= first_heuristic_priority; };
  exact_count_ = static_cast<std::size_t>(std::ranges::find_if(members_, is_guess) - members_.begin());
  const auto first_that = [this](auto&& has_role) -> FrameStepper* {
    const auto at =
        std::ranges::find_if(members_, [&](const Member& m) { return m.everywhere && has_role(*m.stepper); });
    return at == members_.end() ? nullptr : at->stepper.get();
  };
  recovering_ = first_that([](const FrameStepper& s) { return s.recovers_all_registers(); });
  checking_ = first_that([](const FrameStepper& s) { return s.checks_others(); });
  version_ = next_version();
}

} // namespace sframe::unwind
