// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shadow stack from registers alone: what calls, returns and everything else do to it, for ABIs that push
// the return address and for those that pass it in a register.

#include "sframe/run/shadow_stack.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace run_shadow_stack_test {

using namespace sframe;
using code::Effect;
using code::Flow;
using run::Unknown;

/// A thread of which the test says what it executes.
class Machine {
public:
  explicit Machine(Abi id, bool is_thread = false, std::uint64_t sp = 0x8000)
      : abi_(traits(id)), stack(stacks_, abi_, *unwind::find_unwind_abi(id), [this](std::uint64_t address) {
          const auto found = memory.find(address);
          return found == memory.end() ? std::nullopt : std::optional(found->second);
        }) {
    now_.pc = 0x1000;
    set_sp(sp);
    now_.set(abi_.fp, 0x77);
    stack.start(now_, is_thread);
  }

  /// Executes an instruction of 4 bytes.
  void go(Flow flow, std::uint64_t pc, std::uint64_t sp, std::vector<Effect> effects = {}) {
    about_to(flow, effects);
    const unwind::Registers before = now_;
    now_.pc = pc;
    set_sp(sp);
    stack.step({.address = before.pc, .length = 4, .flow = flow}, effects, before, now_);
  }
  void about_to(Flow flow, const std::vector<Effect>& effects = {}) {
    stack.look_ahead({.address = now_.pc, .length = 4, .flow = flow}, effects, now_);
  }
  void plain(std::uint64_t sp) { go(Flow::next, now_.pc + 4, sp); }
  /// An instruction that gives SP another register's value.
  void set(std::uint64_t sp) {
    go(Flow::next, now_.pc + 4, sp, {{.kind = Effect::Kind::set, .reg = std::uint8_t(abi_.sp), .source = 1}});
  }
  /// An instruction that loads SP.
  void load(std::uint64_t sp) {
    go(Flow::next, now_.pc + 4, sp,
       {{.kind = Effect::Kind::load, .reg = std::uint8_t(abi_.sp), .source = 1}});
  }
  void call(std::uint64_t target) {
    const bool pushes = abi_.fixed_ra_offset != 0;
    const std::uint64_t ra = now_.pc + 4;
    if (pushes) memory[sp() - 8] = ra;
    go(Flow::indirect_call, target, sp() - (pushes ? 8 : 0));
    if (!pushes) now_.set(abi_.ra, ra);
  }
  void ret(std::uint64_t target) { go(Flow::ret, target, sp() + (abi_.fixed_ra_offset ? 8 : 0)); }
  /// The kernel enters a handler at `pc`, whose caller, the trampoline, has SP at `frame`. The frame's words
  /// for SP and pc may be wrong by something.
  bool enter_handler(const unwind::SignalTrampoline& layout, std::uint64_t frame, std::uint64_t pc,
                     std::uint64_t trampoline, std::int64_t wrong_sp = 0, std::int64_t wrong_pc = 0) {
    const bool pushes = abi_.fixed_ra_offset != 0;
    const unwind::Registers before = now_;
    for (const unwind::SavedRegister& saved : layout.registers)
      memory[frame + static_cast<std::uint64_t>(std::int64_t{saved.offset})] =
          saved.reg == abi_.sp ? sp() + static_cast<std::uint64_t>(wrong_sp) : 0;
    memory[frame + static_cast<std::uint64_t>(std::int64_t{layout.pc_offset})] =
        now_.pc + static_cast<std::uint64_t>(wrong_pc);
    now_.pc = pc;
    set_sp(pushes ? frame - 8 : frame);
    if (pushes)
      memory[frame - 8] = trampoline;
    else
      now_.set(abi_.ra, trampoline);
    return stack.enter_handler(before, now_);
  }
  void leave_handler(std::uint64_t pc, std::uint64_t to) {
    now_.pc = pc;
    set_sp(to);
    stack.leave_handler(now_);
  }
  /// The thread has run before, and is where a return address may be.
  void join(bool is_entry, std::optional<std::uint64_t> ra) {
    const bool pushes = abi_.fixed_ra_offset != 0;
    if (pushes && ra) memory[sp()] = *ra;
    if (!pushes && ra) now_.set(abi_.ra, *ra);
    stack.end();
    stack.join(now_, is_entry);
  }
  std::uint64_t sp() const { return now_.values[abi_.sp]; }
  std::uint64_t pc() const { return now_.pc; }
  const run::Stacks& stacks() const { return stacks_; }
  /// Another thread of the process starts.
  void start_thread(run::ShadowStack& thread, std::uint64_t sp) const {
    unwind::Registers registers = now_;
    registers.set(abi_.sp, sp);
    thread.start(registers, true);
  }
  /// A shadow stack like `stack`, of another process or thread.
  run::ShadowStack another(run::Stacks& stacks) {
    return {stacks, abi_, *unwind::find_unwind_abi(abi_.id), [](std::uint64_t) { return std::nullopt; }};
  }

  std::map<std::uint64_t, std::uint64_t> memory;

private:
  void set_sp(std::uint64_t sp) { now_.set(abi_.sp, sp); }

  const AbiTraits& abi_;
  run::Stacks stacks_;
  unwind::Registers now_;

public:
  run::ShadowStack stack;
};

class ShadowStackTest : public testing::TestWithParam<Abi> {};

INSTANTIATE_TEST_SUITE_P(Abis, ShadowStackTest, testing::Values(Abi::amd64, Abi::aarch64_little, Abi::s390x));

TEST_P(ShadowStackTest, CallsAndReturns) {
  Machine machine(GetParam());
  EXPECT_EQ(machine.stack.unknown(), Unknown::none); // the start of a program has no caller
  EXPECT_EQ(machine.stack.caller(), nullptr);
  machine.call(0x2000);
  ASSERT_NE(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
  // The CFA is SP before the call; on s390x 160 bytes above it (SFrame 3, section 3.3).
  EXPECT_EQ(machine.stack.caller()->cfa, GetParam() == Abi::s390x ? 0x8000u + 160 : 0x8000u);
  EXPECT_EQ(machine.stack.caller()->fp, 0x77u);
  const std::uint64_t entry = machine.sp();
  machine.plain(entry - 64);
  machine.call(0x3000);
  EXPECT_EQ(machine.stack.caller()->ra, 0x2008u);
  machine.ret(0x2008);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
  machine.plain(entry);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.events().frames_left, 0u);
}

TEST_P(ShadowStackTest, TailCallKeepsTheCaller) {
  Machine machine(GetParam());
  machine.call(0x2000);
  machine.go(Flow::indirect_jump, 0x5000, machine.sp());
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.caller(), nullptr);
}

TEST_P(ShadowStackTest, CallOfTheNextInstructionIsNone) {
  Machine machine(GetParam());
  machine.call(0x1004);
  EXPECT_EQ(machine.stack.caller(), nullptr);
}

TEST_P(ShadowStackTest, LeavesFramesByLongjmp) {
  Machine machine(GetParam());
  machine.call(0x2000);
  const std::uint64_t outer = machine.sp() - 64;
  machine.plain(outer);
  machine.call(0x3000);
  machine.plain(machine.sp() - 64);
  machine.call(0x4000);
  machine.set(outer);
  // Until the jump, pc is in another function than SP.
  EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
  machine.go(Flow::indirect_jump, 0x2010, outer);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
  EXPECT_EQ(machine.stack.events().frames_left, 2u);
  EXPECT_EQ(machine.stack.events().stack_switches, 0u);
}

TEST_P(ShadowStackTest, SwitchesBetweenStacks) {
  Machine machine(GetParam());
  machine.call(0x2000); // the function that switches
  const std::uint64_t here = machine.sp();
  machine.set(0x900000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
  machine.go(Flow::indirect_jump, 0x5000, 0x900000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::other_stack);
  machine.call(0x2000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x5004u);
  machine.set(here);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.events().stack_switches, 2u);
}

TEST_P(ShadowStackTest, GrowsByAComputedAddress) {
  Machine machine(GetParam());
  machine.call(0x2000);
  machine.set(machine.sp() - 0x1000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
}

/// A value that was saved is not a new lowest one: Go's scheduler loads the SP of the goroutine that it runs.
TEST_P(ShadowStackTest, LoadedAddressIsOfAnotherStack) {
  Machine machine(GetParam());
  machine.call(0x2000);
  const std::uint64_t here = machine.sp();
  machine.load(here - 0x1000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
  machine.go(Flow::indirect_jump, 0x5000, here - 0x1000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::other_stack);
  machine.load(here);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.events().stack_switches, 2u);
}

TEST(ShadowStack, ReusedStackIsNotMistaken) {
  Machine machine(Abi::amd64);
  machine.set(0x900000);
  machine.go(Flow::indirect_jump, 0x5000, 0x900000);
  machine.call(0x6000);
  machine.set(0x7000);                  // to the first stack, in the middle of a function
  machine.memory[0x900000 - 8] = 0xbad; // and the other is used for something else
  machine.set(0x900000 - 8);
  machine.go(Flow::indirect_jump, 0x5000, 0x900000 - 8);
  EXPECT_EQ(machine.stack.unknown(), Unknown::other_stack);
}

TEST(ShadowStack, ReturnThatIsAJump) {
  Machine machine(Abi::amd64);
  machine.call(0x2000);
  machine.plain(machine.sp() - 8); // push
  machine.ret(0x9000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
}

/// `pop %rcx; lfence; jmp *%rcx` of -mlvi-hardening: in the call until the jump.
TEST(ShadowStack, PoppedReturnAddress) {
  const std::vector<Effect> pop = {{.kind = Effect::Kind::load, .reg = 1, .source = 7},
                                   {.kind = Effect::Kind::add, .reg = 7, .value = 8}};
  for (const bool returns : {true, false}) {
    Machine machine(Abi::amd64);
    machine.call(0x2000);
    machine.plain(machine.sp());
    machine.go(Flow::next, machine.pc() + 4, machine.sp() + 8, pop);
    machine.plain(machine.sp());
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    ASSERT_NE(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    machine.go(Flow::indirect_jump, returns ? 0x1004 : 0x7000, machine.sp());
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.events().frames_left, returns ? 0u : 1u);
  }
  Machine pushed_again(Abi::amd64); // vfork: the word is popped, and pushed before the return
  pushed_again.call(0x2000);
  pushed_again.go(Flow::next, 0x2004, pushed_again.sp() + 8, pop);
  pushed_again.plain(pushed_again.sp() - 8);
  EXPECT_EQ(pushed_again.stack.caller()->ra, 0x1004u);
  pushed_again.ret(0x1004);
  EXPECT_EQ(pushed_again.stack.caller(), nullptr);
  EXPECT_EQ(pushed_again.stack.events().frames_left, 0u);
}

/// The word is dropped, not loaded: where the code goes on is not known.
TEST(ShadowStack, DiscardedReturnAddress) {
  Machine machine(Abi::amd64);
  machine.call(0x2000);
  machine.plain(machine.sp());
  machine.plain(machine.sp() + 8); // add $8, %rsp
  EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
  machine.go(Flow::indirect_jump, 0x1004, machine.sp());
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller(), nullptr);
}

/// `call 1f; ...; 1: lea 8(%rsp), %rsp; ret`, a return thunk: the first call is none, as its first
/// instruction shows.
TEST(ShadowStack, CallThatIsDiscardedAtOnceIsNone) {
  for (const Effect discard : {Effect{.kind = Effect::Kind::add, .reg = 7, .value = 8},
                               Effect{.kind = Effect::Kind::set, .reg = 7, .source = 7, .value = 8}}) {
    Machine machine(Abi::amd64);
    machine.call(0x2000);
    machine.call(0x2010);
    EXPECT_EQ(machine.stack.caller()->ra, 0x2004u);
    machine.about_to(Flow::next, {discard});
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    machine.go(Flow::next, machine.pc() + 4, machine.sp() + 8, {discard});
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    machine.ret(0x1004);
    EXPECT_EQ(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.events().frames_left, 0u);
  }
  // Other first instructions, and the same instruction elsewhere.
  for (const auto& [kind, reg, value] : {std::tuple{Effect::Kind::add, 7, 16},
                                         {Effect::Kind::add, 6, 8},
                                         {Effect::Kind::align, 7, 8},
                                         {Effect::Kind::set, 7, 8}}) {
    Machine machine(Abi::amd64);
    machine.call(0x2000);
    machine.about_to(Flow::next, {{.kind = kind, .reg = std::uint8_t(reg), .value = value}});
    EXPECT_NE(machine.stack.caller(), nullptr) << int(kind) << ' ' << reg << ' ' << value;
    machine.plain(machine.sp());
    machine.about_to(Flow::next, {{.kind = Effect::Kind::add, .reg = 7, .value = 8}});
    EXPECT_NE(machine.stack.caller(), nullptr);
  }
}

/// Where the return address is in a register, the end of a frame that loads SP has the caller's SP, and so
/// has a nonlocal goto into the caller: what follows decides.
TEST(ShadowStack, SpOfTheCaller) {
  for (const Abi abi : {Abi::aarch64_little, Abi::s390x})
    for (const bool returns : {true, false}) {
      Machine machine(abi);
      machine.call(0x2000);
      machine.plain(machine.sp() - 160);
      machine.call(0x3000);
      const std::uint64_t caller = machine.sp();
      if (abi == Abi::s390x) machine.plain(caller - 160); // or without a frame of its own
      machine.set(caller);
      EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
      machine.about_to(Flow::next);
      machine.about_to(Flow::indirect_jump);
      EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
      if (returns) {
        machine.about_to(Flow::ret);
        EXPECT_EQ(machine.stack.unknown(), Unknown::none);
        machine.ret(0x2008);
        EXPECT_EQ(machine.stack.unknown(), Unknown::none);
        EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
        continue;
      }
      machine.go(Flow::indirect_jump, 0x2040, caller); // the frame of the first call, or a tail call
      EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
      machine.call(0x4000);
      EXPECT_EQ(machine.stack.unknown(), Unknown::none);
      EXPECT_EQ(machine.stack.caller()->ra, 0x2044u);
    }
  Machine lower(Abi::s390x); // a stack that grows: the frame is not left
  lower.call(0x2000);
  lower.set(lower.sp() - 160);
  EXPECT_EQ(lower.stack.unknown(), Unknown::none);
}

/// swapcontext() and setcontext() have no frames: all calls of a stack have the same SP there.
TEST(ShadowStack, CallsWithoutFrames) {
  for (const Abi abi : {Abi::aarch64_little, Abi::s390x}) {
    Machine machine(abi);
    machine.call(0x2000); // swapcontext, from 0x1000
    machine.plain(machine.sp());
    machine.call(0x3000); // setcontext, from 0x2004
    const std::uint64_t first = machine.sp();
    machine.set(0x900000);
    machine.go(Flow::indirect_jump, 0x5000, 0x900000);
    machine.set(first);                             // back, into swapcontext
    machine.go(Flow::indirect_jump, 0x2010, first); // which call is open is not certain
    EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
    machine.ret(0x1004);
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller(), nullptr);
  }
}

/// A signal handler on the same stack, or on another: its frame is as the kernel lays it out.
TEST_P(ShadowStackTest, SignalHandlers) {
  const unwind::SignalTrampoline& layout = unwind::find_unwind_abi(GetParam())->trampolines.front();
  for (const std::uint64_t frame : {0x7000u, 0x900000u}) {
    Machine machine(GetParam());
    machine.call(0x2000);
    const std::uint64_t sp = machine.sp(), pc = machine.pc();
    machine.enter_handler(layout, frame, 0x3000, 0xaaa0);
    ASSERT_NE(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller()->ra, 0xaaa0u); // the trampoline
    EXPECT_FALSE(machine.stack.caller()->interrupted);
    machine.call(0x4000); // the handler calls
    machine.ret(0x3004);
    EXPECT_EQ(machine.stack.caller()->ra, 0xaaa0u);
    machine.ret(0xaaa0);
    ASSERT_NE(machine.stack.caller(), nullptr);
    EXPECT_TRUE(machine.stack.caller()->interrupted);
    EXPECT_EQ(machine.stack.caller()->ra, pc);
    EXPECT_EQ(machine.stack.caller()->cfa, sp - std::uint64_t(std::int64_t{traits(GetParam()).sp_from_cfa}));
    machine.leave_handler(pc, sp);
    ASSERT_NE(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    EXPECT_EQ(machine.stack.events().frames_left, 0u);
    machine.ret(0x1004);
    EXPECT_EQ(machine.stack.caller(), nullptr);
  }
}

/// The frame must have the interrupted SP, and a pc that is at most a system call's restart away.
/// A handler continues the interrupted code elsewhere: Go's makes a call of it.
TEST_P(ShadowStackTest, HandlerThatContinuesElsewhere) {
  const AbiTraits& abi = traits(GetParam());
  for (const unwind::SignalTrampoline& layout : unwind::find_unwind_abi(GetParam())->trampolines)
    for (const std::int64_t pushed : {0, 8, 16}) {
      Machine machine(GetParam());
      machine.call(0x2000);
      const std::uint64_t before = machine.sp() - 64, to = before - static_cast<std::uint64_t>(pushed);
      machine.plain(before);
      ASSERT_TRUE(machine.enter_handler(layout, before - 0x400, 0x5000, 0x6000));
      machine.ret(0x6000);
      machine.memory[to] = 0x2004; // where it was
      machine.leave_handler(0x7000, to);
      const bool is_call = pushed == 8 && abi.fixed_ra_offset != 0;
      EXPECT_EQ(machine.stack.unknown(), is_call ? Unknown::none : Unknown::moved) << pushed;
      EXPECT_EQ(machine.stack.caller()->ra, is_call ? 0x2004u : 0x1004u);
      if (!is_call) continue;
      EXPECT_EQ(machine.stack.caller()->cfa, before);
      machine.ret(0x2004);
      EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    }
}

/// The new place may be another function, which makes calls of its own, and need not return; or after the
/// instruction that has raised the signal.
TEST_P(ShadowStackTest, HandlerThatOnlyChangesThePc) {
  const bool pushes = traits(GetParam()).fixed_ra_offset != 0;
  const unwind::SignalTrampoline& layout = unwind::find_unwind_abi(GetParam())->trampolines.front();
  for (const std::uint64_t to : {0x7000u, 0x1f00u, 0x2014u, 0x2008u}) {
    Machine machine(GetParam());
    machine.call(0x2000);
    const std::uint64_t before = machine.sp() - 64;
    machine.plain(before);
    ASSERT_TRUE(machine.enter_handler(layout, before - 0x400, 0x5000, 0x6000));
    machine.ret(0x6000);
    machine.leave_handler(to, before);
    const Unknown expected = to == 0x7000 || to == 0x1f00 ? Unknown::moved : Unknown::none;
    EXPECT_EQ(machine.stack.unknown(), expected) << to;
    machine.plain(before - 8); // pushes a word, and jumps
    machine.go(Flow::jump, 0x8000, before - 8);
    EXPECT_EQ(machine.stack.unknown(), expected) << to;
    machine.go(Flow::indirect_jump, 0x8100, before - 8); // by a table
    EXPECT_EQ(machine.stack.unknown(), expected) << to;
    machine.call(0x9000);
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller()->ra, 0x8104u);
    machine.ret(0x8104);
    EXPECT_EQ(machine.stack.unknown(), expected) << to;
    machine.plain(pushes ? 0x7ff8 : 0x8000);
    machine.ret(0x1004);
    EXPECT_EQ(machine.stack.unknown(), Unknown::none);
    EXPECT_EQ(machine.stack.caller(), nullptr);
  }
}

TEST_P(ShadowStackTest, NoSignalHandler) {
  const unwind::SignalTrampoline& layout = unwind::find_unwind_abi(GetParam())->trampolines.front();
  struct Wrong {
    std::int64_t sp, pc;
    bool enters;
  };
  for (const Wrong& wrong :
       {Wrong{8, 0, false}, Wrong{0, 9, false}, Wrong{0, -9, false}, Wrong{0, 8, true}, Wrong{0, -8, true}}) {
    Machine machine(GetParam());
    machine.call(0x2000);
    EXPECT_EQ(machine.enter_handler(layout, 0x7000, 0x3000, 0xaaa0, wrong.sp, wrong.pc), wrong.enters);
  }
}

TEST(ShadowStack, EndlessCalls) {
  Machine machine(Abi::aarch64_little);
  constexpr std::uint64_t most = 1 << 20;
  for (std::uint64_t i = 0; i <= most; ++i) machine.call(0x2000 + 8 * i);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x2000 + 8 * (most - 1) + 4);
  // Half of them, rounded up, are kept; who called those is not known.
  for (std::uint64_t i = 0; i <= most / 2; ++i) {
    ASSERT_NE(machine.stack.caller(), nullptr) << i;
    machine.ret(machine.stack.caller()->ra);
  }
  EXPECT_EQ(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.unknown(), Unknown::other_stack);
}

TEST(ShadowStack, CallThatIsExecutedAgainIsNone) {
  Machine machine(Abi::amd64);
  machine.call(machine.pc());
  EXPECT_EQ(machine.stack.caller(), nullptr);
}

/// `ret $16` of AMD64 removes arguments, too.
TEST(ShadowStack, ReturnThatRemovesArguments) {
  Machine machine(Abi::amd64);
  machine.plain(0x7ff0);
  machine.call(0x2000);
  machine.go(Flow::ret, 0x1008, machine.sp() + 8 + 16);
  EXPECT_EQ(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.events().frames_left, 0u);
}

/// Whichever instruction jumps, frames that were left are behind it.
TEST_P(ShadowStackTest, WhatEndsLeaving) {
  for (const Flow flow : {Flow::ret, Flow::conditional_return, Flow::indirect_jump, Flow::indirect_branch}) {
    Machine machine(GetParam());
    machine.set(0x900000);
    EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
    machine.go(Flow::branch, 0x4000, 0x900000);
    EXPECT_EQ(machine.stack.unknown(), Unknown::leaving);
    machine.go(flow, 0x5000, 0x900000);
    EXPECT_EQ(machine.stack.unknown(), Unknown::other_stack);
  }
}

/// Only what gives SP a value that is not computed from SP can leave the stack.
TEST_P(ShadowStackTest, WhatSwitchesStacks) {
  const auto sp = std::uint8_t(traits(GetParam()).sp);
  const auto other = std::uint8_t(sp + 1);
  struct Case {
    Effect effect;
    bool switches;
  };
  for (const Case& one : {Case{{.kind = Effect::Kind::load, .reg = sp}, true},
                          Case{{.kind = Effect::Kind::load_table, .reg = sp}, true},
                          Case{{.kind = Effect::Kind::clobber, .reg = sp}, true},
                          Case{{.kind = Effect::Kind::set, .reg = sp, .source = other}, true},
                          Case{{.kind = Effect::Kind::set, .reg = sp, .source = sp}, false},
                          Case{{.kind = Effect::Kind::add, .reg = sp}, false},
                          Case{{.kind = Effect::Kind::load, .reg = other}, false}}) {
    Machine machine(GetParam());
    machine.go(Flow::next, machine.pc() + 4, 0x900000, {one.effect});
    EXPECT_EQ(machine.stack.events().stack_switches, one.switches ? 1u : 0u)
        << int(one.effect.kind) << ' ' << int(one.effect.reg);
  }
}

/// A stack grows by at most 64 KiB at once, and not into another one.
TEST_P(ShadowStackTest, HowFarAStackGrows) {
  for (const std::uint64_t far : {0x10000u, 0x10001u}) {
    Machine machine(GetParam(), false, 0x28000);
    machine.set(0x28000 - far);
    EXPECT_EQ(machine.stack.events().stack_switches, far == 0x10000 ? 0u : 1u);
  }
  Machine machine(GetParam());
  machine.set(0x900000);
  machine.set(0x900000 - 64); // nothing is known of a stack that has no start
  EXPECT_EQ(machine.stack.events().stack_switches, 2u);
  machine.set(0x7000);
  machine.set(0x8000);
  machine.set(0x7000);
  EXPECT_EQ(machine.stack.events().stack_switches, 5u);
  machine.set(0x7000); // where it is already
  EXPECT_EQ(machine.stack.events().stack_switches, 5u);
}

TEST_P(ShadowStackTest, Threads) {
  Machine machine(GetParam(), true);
  EXPECT_EQ(machine.stack.unknown(), Unknown::thread_start);
  machine.call(0x2000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.unknown(), Unknown::thread_start);
}

TEST_P(ShadowStackTest, Joined) {
  const bool pushes = GetParam() == Abi::amd64;
  Machine machine(GetParam());
  machine.join(false, 0x4444);
  EXPECT_EQ(machine.stack.caller(), nullptr);
  EXPECT_EQ(machine.stack.unknown(), Unknown::before_start);
  machine.call(0x2000);
  EXPECT_EQ(machine.stack.unknown(), Unknown::none);
  machine.ret(machine.stack.caller()->ra);
  EXPECT_EQ(machine.stack.unknown(), Unknown::before_start);

  Machine entry(GetParam());
  entry.join(true, 0x4444);
  ASSERT_NE(entry.stack.caller(), nullptr);
  EXPECT_EQ(entry.stack.unknown(), Unknown::none);
  EXPECT_EQ(entry.stack.caller()->ra, 0x4444u);
  EXPECT_EQ(entry.stack.caller()->cfa, 0x8000u + (pushes ? 8 : GetParam() == Abi::s390x ? 160 : 0));
  EXPECT_EQ(entry.stack.caller()->fp, 0x77u);
  entry.call(0x2000);
  entry.ret(0x1004);
  EXPECT_EQ(entry.stack.caller()->ra, 0x4444u);
  entry.ret(0x4444);
  EXPECT_EQ(entry.stack.caller(), nullptr);
  EXPECT_EQ(entry.stack.unknown(), Unknown::before_start);
  EXPECT_EQ(entry.stack.events().frames_left, 0u);

  Machine lost(GetParam());
  lost.join(true, std::nullopt);
  EXPECT_EQ(lost.stack.caller(), nullptr);
  EXPECT_EQ(lost.stack.unknown(), Unknown::before_start);
}

/// A child of fork() has a copy of all stacks.
TEST_P(ShadowStackTest, CopiesOfStacks) {
  Machine machine(GetParam());
  machine.call(0x2000);
  run::Stacks stacks;
  stacks.copy(machine.stacks());
  run::ShadowStack child = machine.another(stacks);
  child.copy(machine.stack);
  machine.ret(0x1004);
  EXPECT_EQ(machine.stack.caller(), nullptr);
  ASSERT_NE(child.caller(), nullptr);
  EXPECT_EQ(child.caller()->ra, 0x1004u);
  // Stacks that are made later are others than the copied ones.
  run::ShadowStack thread = machine.another(stacks);
  machine.start_thread(thread, 0x50000);
  EXPECT_EQ(thread.unknown(), Unknown::thread_start);
  thread.end();
  EXPECT_EQ(child.caller()->ra, 0x1004u);
}

/// A handler above the interrupted SP, or far below it, has a stack of its own: the other goes on afterwards
/// whatever the handler has left.
TEST_P(ShadowStackTest, HandlersOnAnotherStack) {
  const unwind::SignalTrampoline& layout = unwind::find_unwind_abi(GetParam())->trampolines.front();
  for (const std::uint64_t frame : {0x41000u, 0x20000u}) {
    Machine machine(GetParam(), false, 0x40000);
    machine.call(0x2000);
    const std::uint64_t sp = machine.sp(), pc = machine.pc();
    ASSERT_TRUE(machine.enter_handler(layout, frame, 0x3000, 0xaaa0));
    machine.call(0x4000);
    machine.ret(0x3004);
    machine.ret(0xaaa0);
    machine.leave_handler(pc, sp);
    ASSERT_NE(machine.stack.caller(), nullptr);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    EXPECT_EQ(machine.stack.events().stack_switches, 0u);
    EXPECT_EQ(machine.stack.events().frames_left, 0u);
    // The handler's stack is gone: it is unknown when SP comes there again.
    machine.set(frame);
    EXPECT_EQ(machine.stack.events().stack_switches, 1u);
  }
}

/// The alternate stack may be close below the interrupted one: the kernel's frame has where it is.
TEST_P(ShadowStackTest, HandlersOnANearStack) {
  const unwind::SignalTrampoline& layout = unwind::find_unwind_abi(GetParam())->trampolines.front();
  constexpr std::uint64_t frame = 0x3f000;
  ASSERT_NE(layout.alternate_stack, 0);
  for (const bool is_alternate : {true, false}) {
    Machine machine(GetParam(), false, 0x40000);
    machine.call(0x2000);
    const std::uint64_t sp = machine.sp(), pc = machine.pc();
    machine.memory[frame + layout.alternate_stack] = is_alternate ? frame - 0x800 : 0x90000;
    machine.memory[frame + layout.alternate_stack + 16] = 0xc00; // bytes
    ASSERT_TRUE(machine.enter_handler(layout, frame, 0x3000, 0xaaa0));
    machine.ret(0xaaa0);
    machine.leave_handler(pc, sp);
    EXPECT_EQ(machine.stack.caller()->ra, 0x1004u);
    machine.load(frame); // the thread has been there on this stack, or on one that is gone
    EXPECT_EQ(machine.stack.events().stack_switches, is_alternate);
  }
}

/// The stack that was not used for the longest time is dropped: its calls are not known any more.
TEST(ShadowStack, ManyStacks) {
  constexpr std::uint64_t most = 4096, apart = 0x100000; // docs/dev/limits.md
  for (const std::uint64_t others : {most - 1, most}) {
    Machine machine(Abi::aarch64_little);
    machine.call(0x2000);
    for (std::uint64_t i = 1; i <= others; ++i) machine.set(i * apart);
    machine.set(0x8000);
    machine.go(Flow::indirect_jump, 0x2010, 0x8000);
    machine.ret(0x1004);
    EXPECT_EQ(machine.stack.unknown(), others < most ? Unknown::none : Unknown::other_stack) << others;
  }
}

TEST(ShadowStack, TextsOfWhatIsUnknown) {
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < run::num_unknown; ++i) texts.insert(run::unknown_text(Unknown(i)));
  EXPECT_EQ(texts.size(), run::num_unknown);
  EXPECT_EQ(run::unknown_text(Unknown::none), "known");
}

} // namespace run_shadow_stack_test
