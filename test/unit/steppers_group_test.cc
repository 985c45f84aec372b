// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which stepper is asked for which address, and in which order.

#include "made_up_space.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace steppers_group_test {

using namespace sframe;
using namespace sframe::test;

/// Knows no frame.
std::unique_ptr<Scripted> idle(std::string_view name, int priority) {
  auto stepper = std::make_unique<Scripted>(
      [](const FrameState&, Memory&, FrameState&) { return StepResult::not_applicable(); }, false, priority);
  stepper->set_name(name);
  return stepper;
}

/// Steps 16 bytes up the stack and 0x100 further in the code.
std::unique_ptr<Scripted> climber(std::string_view name, int priority) {
  auto stepper = std::make_unique<Scripted>(
      [](const FrameState& frame, Memory&, FrameState& caller) {
        return to_caller(caller, frame.registers.pc + 0x100, *frame.registers.get(rsp) + 16);
      },
      false, priority);
  stepper->set_name(name);
  return stepper;
}

/// The names of those that are asked at an address, in their order: "a b".
std::string asked(const StepperGroup& group, std::uint64_t address) {
  std::string names;
  for (const FrameStepper* s = group.find_for(address); s; s = group.find_for(address, s))
    names += (names.empty() ? "" : " ") + std::string(s->name());
  return names;
}

TEST(StepperGroup, KeepsTheOrderOfAList) {
  const StepperGroup group = list(idle("late", 50), idle("early", 10));
  EXPECT_EQ(asked(group, 0), "late early");
  EXPECT_EQ(group.exact().size(), 2u);
}

TEST(StepperGroup, AddsByPriority) {
  StepperGroup group;
  group.add(idle("cfi", 20));
  group.add(idle("guess", 110));
  group.add(idle("sframe", 10));
  group.add(idle("cfi2", 20));
  EXPECT_EQ(asked(group, 0x1234), "sframe cfi cfi2 guess");
  EXPECT_EQ(group.exact().size(), 3u);
  EXPECT_EQ(StepperGroup(default_steppers(amd64, nullptr)).exact().size(),
            5u); // sframe cfi signal go-table bottom
}

TEST(StepperGroup, ChoosesByAddress) {
  StepperGroup group;
  group.add(idle("all", 20));
  group.add(idle("jit", 5), AddressRange::between(0x1000, 0x2000));
  group.add(idle("none yet", 6), {});
  EXPECT_EQ(asked(group, 0xfff), "all");
  EXPECT_EQ(asked(group, 0x1000), "jit all");
  EXPECT_EQ(asked(group, 0x1fff), "jit all");
  EXPECT_EQ(asked(group, 0x2000), "all");

  EXPECT_TRUE(group.extend("jit", AddressRange::between(0x4000, 0x5000)));
  EXPECT_TRUE(group.extend("none yet", AddressRange::between(0, ~std::uint64_t{0})));
  EXPECT_EQ(asked(group, 0x3fff), "none yet all");
  EXPECT_EQ(asked(group, 0x4000), "jit none yet all");
  EXPECT_FALSE(group.extend("all", AddressRange::between(0, 1))) << "it is everywhere";
  EXPECT_FALSE(group.extend("unknown", AddressRange::between(0, 1)));
}

/// Against a set of addresses, one by one.
TEST(StepperGroup, MergesRanges) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    StepperGroup group;
    group.add(idle("s", 1), {});
    std::vector<bool> covered(66);
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t start = random() % 64, end = start + random() % 5;
      group.extend("s", AddressRange::between(start, std::min<std::uint64_t>(end, 64)));
      for (std::uint64_t a = start; a < std::min<std::uint64_t>(end, 64); ++a) covered[a] = true;
    }
    for (std::uint64_t a = 0; a < covered.size(); ++a)
      ASSERT_EQ(group.find_for(a) != nullptr, covered[a]) << round << ' ' << a;
    const auto members = group.members();
    const auto ranges = members.front().ranges.ranges();
    for (std::size_t i = 1; i < ranges.size(); ++i) ASSERT_LT(ranges[i - 1].end(), ranges[i].start);
  }
}

TEST(StepperGroup, ReplacesInPlaceAndRemoves) {
  StepperGroup group = list(idle("a", 10), idle("b", 20));
  group.add(idle("c", 15), AddressRange::between(0x10, 0x20));
  EXPECT_EQ(asked(group, 0x10), "a c b");

  const auto former = group.replace("c", idle("d", 15));
  ASSERT_TRUE(former);
  EXPECT_EQ(former->name(), "c");
  EXPECT_EQ(asked(group, 0x10), "a d b");
  EXPECT_EQ(asked(group, 0x20), "a b") << "it stands where the other stood";
  EXPECT_EQ(group.replace("c", idle("e", 1)), nullptr);
  EXPECT_EQ(group.find("e"), nullptr);

  EXPECT_EQ(group.remove("a")->name(), "a");
  EXPECT_EQ(group.remove("a"), nullptr);
  EXPECT_EQ(asked(group, 0x10), "d b");
}

TEST(StepperGroup, TracksSteppersThatRecoverAllRegisters) {
  const auto full = [] {
    return std::make_unique<Scripted>(
        [](const FrameState&, Memory&, FrameState&) { return StepResult::not_applicable(); }, true, 20);
  };
  StepperGroup group;
  FrameStepper& limited = group.add(full(), AddressRange::between(0, 0x1000));
  EXPECT_EQ(group.recovering(), nullptr) << "only one for all addresses can repeat a walk";
  FrameStepper& everywhere = group.add(full());
  EXPECT_EQ(group.recovering(), &everywhere);
  EXPECT_EQ(group.find_for(0), &limited);
}

TEST(StepperGroup, WalksByRegion) {
  MadeUpSpace space;
  StepperGroup group;
  group.add(climber("usual", 20));
  group.add(climber("region", 5), AddressRange::between(0x1100, 0x1300));
  Walker walker(space, std::move(group));
  walker.set_max_frames(5);
  const auto names = [&] {
    Collected got;
    walker.walk(start(0x1000, 0x7000), got);
    std::string text;
    for (const Frame& frame : got.frames) text += std::string(frame.stepper()) + ' ';
    return text;
  };
  // A frame that was called is where its call is: 0x1100 belongs to what ends there, 0x1300 to the region.
  EXPECT_EQ(names(), "context usual usual region region ");
  walker.steppers().extend("region", AddressRange::between(0x10ff, 0x1100));
  EXPECT_EQ(names(), "context usual region region region ");
  walker.steppers().remove("region");
  EXPECT_EQ(names(), "context usual usual usual usual ");
}

TEST(StepperGroup, StepperMaySwitchStacks) {
  MadeUpSpace space;
  for (const bool says_so : {true, false}) {
    Walker walker(space,
                  list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                    if (frame.registers.pc != 0x1000)
                      return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
                    StepResult result = to_caller(caller, 0x1100, 0x3000);
                    result.other_stack = says_so;
                    return result;
                  })));
    Collected got;
    const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
    EXPECT_EQ(end.complete, says_so);
    EXPECT_EQ(end.reason, says_so ? StopReason::bottom : StopReason::cfa_not_growing);
  }
}

} // namespace steppers_group_test
