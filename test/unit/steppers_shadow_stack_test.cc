// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stepper shadow-stack on synthetic memory. What is on a hardware shadow stack: Intel SDM volume 1,
// section 17.2; Linux Documentation/arch/x86/shstk.rst ("Signal") and Documentation/arch/arm64/gcs.rst
// (sections 3, 4).

#include "made_up_space.h"

#include "sframe/unwind/abi.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace steppers_shadow_stack_test {

using namespace sframe;
using namespace sframe::test;

constexpr std::uint64_t shadow = 0x700000, shadow_end = 0x701000, stack = 0x8000;

/// A stack of three calls without tables, and its shadow stack. No frame pointers, and no code to analyse.
struct ThreeCalls {
  MadeUpSpace space;
  FrameState innermost;
  std::vector<std::unique_ptr<Walker>> walkers; ///< frames point to their steppers

  ThreeCalls() {
    for (std::uint64_t at = stack; at < stack + 0x100; at += 8) space.word(at, 0);
    for (const std::uint64_t address : {0x1100, 0x1200, 0x1300}) space.call_before(address);
    space.word(stack + 0x20, 0x1100);
    space.word(stack + 0x40, 0x1200);
    space.word(stack + 0x60, 0x1300);
    space.word(shadow, 0x1100);
    space.word(shadow + 8, 0x1200);
    space.word(shadow + 16, 0x1300);
    innermost.registers = start(0x1050, stack);
    innermost.shadow = {shadow, shadow + 24};
  }

  WalkEnd walk(Collected& got, StepperList more = {}) {
    StepperGroup group(std::move(more));
    group.add(make_shadow_stack_stepper(amd64));
    walkers.push_back(std::make_unique<Walker>(space, std::move(group)));
    return walkers.back()->walk(innermost, got);
  }
};

std::vector<std::uint64_t> pcs(const Collected& got) {
  std::vector<std::uint64_t> result;
  for (const Frame& frame : got.frames) result.push_back(frame.pc);
  return result;
}

using Addresses = std::vector<std::uint64_t>;

TEST(HardwareShadow, FindsCallersAndTheirStackPointers) {
  ThreeCalls calls;
  Collected got;
  const WalkEnd end = calls.walk(got);
  EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100, 0x1200, 0x1300}));
  EXPECT_FALSE(end.complete); // nothing says that the last frame has no caller
  EXPECT_FALSE(end.overwritten);
  for (std::size_t i = 1; i < got.frames.size(); ++i) {
    EXPECT_EQ(got.frames[i].stepper(), "shadow-stack");
    EXPECT_EQ(got.frames[i].trust, Trust::exact);
    EXPECT_EQ(got.registers[i].get(rsp), stack + 0x20 * i + 8);
    EXPECT_FALSE(got.frames[i - 1].has_cfa); // SP was found by a search
  }
}

TEST(HardwareShadow, GoesOnWhereTheStackIsOverwritten) {
  ThreeCalls calls;
  calls.space.word(stack + 0x20, 0x4141414141414141);
  calls.space.word(stack + 0x40, 0x4141414141414141);
  Collected got;
  calls.walk(got);
  EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100, 0x1200, 0x1300}));
  EXPECT_EQ(got.registers[3].get(rsp), stack + 0x68);
}

TEST(HardwareShadow, IsNotUsedWithoutAPosition) {
  ThreeCalls calls;
  calls.innermost.shadow = {};
  Collected got;
  calls.walk(got);
  EXPECT_EQ(pcs(got), (Addresses{0x1050}));
}

TEST(HardwareShadow, EndsAtTheEndOfItsMemory) {
  ThreeCalls calls;
  for (const std::uint64_t end : {shadow + 16, shadow + 23}) {
    calls.innermost.shadow.end = end;
    Collected got;
    calls.walk(got);
    EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100, 0x1200}));
  }
}

// A token is no return address: for a switch of stacks (address + 8, bit 0 set), the end marker 0, a
// pointer that is not aligned, one outside memory.
TEST(HardwareShadow, IgnoresWhatIsNoReturnAddress) {
  for (const std::uint64_t token : {shadow + 16 + 1, std::uint64_t{0}, shadow | 3, ~std::uint64_t{0}}) {
    ThreeCalls calls;
    calls.space.word(shadow + 8, token);
    Collected got;
    calls.walk(got);
    EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100})) << token;
  }
  for (const std::uint64_t next : {shadow + 4, std::uint64_t{1}, ~std::uint64_t{0}, shadow_end}) {
    ThreeCalls calls;
    calls.innermost.shadow.next = next;
    Collected got;
    calls.walk(got);
    EXPECT_EQ(pcs(got), (Addresses{0x1050})) << next;
  }
}

/// A stepper for all frames that reads the return address 0x20 bytes above SP, as a table may describe it.
StepperList table(StepResult also = {}) {
  StepperList list;
  list.push_back(
      std::make_unique<Scripted>([also](const FrameState& frame, Memory& memory, FrameState& caller) {
        const std::uint64_t sp = frame.registers.values[rsp], cfa = frame.pc_exact ? sp + 0x28 : sp + 0x20;
        const auto address = memory.word(cfa - 8);
        if (!address || *address == 0) return StepResult::failed(StopReason::unreadable_memory, cfa);
        caller.registers.known = 0;
        caller.registers.set(rsp, cfa);
        caller.registers.pc = *address;
        caller.pc_exact = false;
        StepResult result = also;
        result.status = StepStatus::stepped;
        result.has_cfa = true;
        result.cfa = cfa;
        return result;
      }));
  return list;
}

TEST(HardwareShadow, ChecksOtherSteppers) {
  ThreeCalls calls;
  Collected got;
  EXPECT_FALSE(calls.walk(got, table()).overwritten);
  EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100, 0x1200, 0x1300}));
  for (std::size_t i = 1; i < got.frames.size(); ++i) EXPECT_EQ(got.frames[i].stepper(), "scripted");

  calls.space.word(stack + 0x40, 0x1500); // code, but not where it came from
  Collected damaged;
  const WalkEnd end = calls.walk(damaged, table());
  EXPECT_EQ(pcs(damaged), pcs(got));
  ASSERT_TRUE(end.overwritten);
  EXPECT_EQ(end.overwritten->frame, 1u);
  EXPECT_EQ(end.overwritten->found, 0x1500u);
  EXPECT_EQ(end.overwritten->right, 0x1200u);
  EXPECT_EQ(damaged.frames[2].stepper(), "shadow-stack");
  EXPECT_EQ(damaged.frames[3].stepper(), "scripted"); // SP of the table's step is kept
}

// A guess that differs is corrected, but proves nothing.
TEST(HardwareShadow, ReportsOnlyWhatTablesShow) {
  ThreeCalls calls;
  calls.space.word(stack + 0x40, 0x1500);
  Collected got;
  const WalkEnd end = calls.walk(got, table({.trust = Trust::heuristic}));
  EXPECT_EQ(pcs(got), (Addresses{0x1050, 0x1100, 0x1200, 0x1300}));
  EXPECT_FALSE(end.overwritten);
}

// A stepper of the user's that switches stacks, or skips frames, is not contradicted.
TEST(HardwareShadow, LetsOthersSwitchStacks) {
  for (const bool skips : {false, true}) {
    ThreeCalls calls;
    calls.space.word(stack + 0x20, 0x1200);
    calls.space.word(stack + 0x40, 0x1500);
    Collected got;
    const WalkEnd end = calls.walk(got, table({.may_skip = skips, .other_stack = !skips}));
    EXPECT_EQ(pcs(got)[1], 0x1200u);
    EXPECT_FALSE(end.overwritten);
    ASSERT_GE(got.frames.size(), 3u);
    EXPECT_EQ(got.frames[2].pc, 0x1500u); // nor later
  }
}

TEST(HardwareShadow, MarksOfSignals) {
  const auto before = [](Abi abi, std::uint64_t address, std::uint64_t word) {
    return find_unwind_abi(abi)->shadow_before_signal(address, word);
  };
  constexpr std::uint64_t mark = std::uint64_t{1} << 63;
  EXPECT_EQ(before(Abi::amd64, shadow, mark | (shadow + 8)), shadow + 8);
  EXPECT_EQ(before(Abi::amd64, shadow, mark | (shadow + 0x80)), shadow + 0x80);
  EXPECT_EQ(before(Abi::amd64, shadow, shadow + 8), 0u);
  EXPECT_EQ(before(Abi::amd64, shadow, mark | shadow), 0u); // would lead back
  EXPECT_EQ(before(Abi::amd64, shadow, mark | (shadow + 9)), 0u);
  for (const Abi abi : {Abi::aarch64_little, Abi::aarch64_big}) {
    EXPECT_EQ(before(abi, shadow + 0x128, shadow), shadow + 0x130);
    EXPECT_EQ(before(abi, shadow + 0x128, shadow + 1), 0u); // a token for switching
    EXPECT_EQ(before(abi, shadow + 0x1128, shadow), 0u);
  }
  EXPECT_EQ(find_unwind_abi(Abi::s390x)->shadow_before_signal, nullptr);
}

} // namespace steppers_shadow_stack_test
