// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walker and the steppers on synthetic memory: cases that real programs cannot produce on demand.

#include "cfi_assembler.h"
#include "made_up_space.h"

#include "sframe/base/budget.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/plain_row.h"
#include "sframe/unwind/trampoline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace steppers_walker_test {

using namespace sframe;
using namespace sframe::test;

TEST(Walker, EndsWithoutTables) {
  MadeUpSpace space;
  Walker walker(space, default_steppers(amd64, nullptr));
  Collected got;
  WalkEnd end = walker.walk(start(0x1500, 0x8000), got);
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(end.reason, StopReason::no_rule);
  EXPECT_EQ(describe(end), "no unwind information for the pc (0x1500)");
  ASSERT_EQ(got.frames.size(), 1u);
  EXPECT_EQ(got.frames[0].stepper(), "context");
  EXPECT_FALSE(got.frames[0].has_cfa);

  end = walker.walk(start(0x9999, 0x8000), got);
  EXPECT_EQ(end.reason, StopReason::not_code);
}

TEST(Walker, RefusesStackThatDoesNotGrow) {
  MadeUpSpace space;
  for (const std::uint64_t sp : {0x8000u, 0x7fffu, 0x7ff8u, 0u}) {
    Walker walker(space,
                  list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                    return frame.pc_exact ? to_caller(caller, 0x1100, 0x8000) : to_caller(caller, 0x1200, sp);
                  })));
    Collected got;
    const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
    EXPECT_FALSE(end.complete);
    EXPECT_EQ(end.reason, StopReason::cfa_not_growing) << sp;
    EXPECT_EQ(got.frames.size(), 2u);
  }
}

/// A table whose one function has a CFA of sp + `size`.
class OneFunction final : public RuleSource {
public:
  explicit OneFunction(int size) : size_(size) {}
  std::optional<SframeMatch> find_sframe(std::uint64_t) override {
    return SframeMatch{.row = {0, Rule::value(rsp, size_), Rule::at_cfa(-8), Rule::same(), false}};
  }
  bool find_cfi(std::uint64_t, CfiMatch& answer) override {
    CfiAssembler a(cfi::SectionKind::debug_frame, ByteOrder::little);
    const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(1).uleb(16));
    const auto at = a.fde(
        cie, a.body().u64(0x1000).u64(0x100).append(Bytes().raw({0x0c, rsp, size_}).raw({0x11, 16, 0x78})));
    const cfi::CfiSection section = a.section(Abi::amd64);
    return cfi::FullRowCursor(section, section.fde(at).value()).next(answer.row);
  }
  std::optional<AddressRange> find_function(std::uint64_t) override { return AddressRange{0x1000, 0x100}; }
  std::optional<AddressRange> find_symbol_extent(std::uint64_t) override { return std::nullopt; }

private:
  int size_;
};

/// A space whose code can be replaced.
class ChangingSpace final : public MadeUpSpace {
public:
  RuleSource* rules_at(std::uint64_t) override { return changed_ ? &second_ : &first_; }
  void change() {
    changed_ = true;
    note_change();
  }

private:
  OneFunction first_{8}, second_{16};
  bool changed_ = false;
};

TEST(Walker, UsesNoRulesOfAnEarlierGeneration) {
  for (const char* stepper : {"sframe", "cfi"}) {
    ChangingSpace space;
    space.word(0x8000, 0x1100);
    space.word(0x8008, 0x1200);
    Walker walker(space, *select_steppers(default_steppers(amd64, nullptr), stepper));
    const auto caller_of = [&] {
      Collected got;
      walker.walk(start(0x1050, 0x8000), got);
      return got.frames.size() > 1 ? got.frames[1].pc : 0;
    };
    EXPECT_EQ(caller_of(), 0x1100u) << stepper;
    EXPECT_EQ(caller_of(), 0x1100u) << stepper;
    space.change();
    EXPECT_EQ(caller_of(), 0x1200u) << stepper;
  }
}

/// A stepper whose answers depend on the position alone: CFA = SP + 16, except where it has none.
class Positional final : public FrameStepper {
public:
  explicit Positional(PositionAnswer answer, std::string_view name = "positional", int priority = 5)
      : answer_(answer), name_(name), priority_(priority) {}
  std::string_view name() const override { return name_; }
  std::string_view description() const override { return ""; }
  int priority() const override { return priority_; }
  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    ++steps;
    if (answer_ == PositionAnswer::not_applicable) return StepResult::not_applicable();
    PlainRow row;
    at_position(frame, memory, row);
    return row.apply(frame, memory, amd64, caller);
  }
  PositionAnswer at_position(const FrameState&, Memory&, PlainRow& row) override {
    ++questions;
    row.compile({.row = {0, Rule::value(rsp, 16), Rule::at_cfa(-8), Rule::same(), false}}, amd64);
    return answer_;
  }
  int steps = 0, questions = 0;

private:
  PositionAnswer answer_;
  std::string_view name_;
  int priority_;
};

/// A stack of frames of 16 bytes from 0x8000 on, whose return addresses are 0x1100 and 0x1200 by turns; the
/// last one is 0.
class TwoFunctions final : public MadeUpSpace {
public:
  explicit TwoFunctions(std::uint64_t frames) {
    for (std::uint64_t i = 0; i < frames; ++i)
      word(0x8008 + 16 * i, i + 1 == frames ? 0 : i % 2 ? 0x1200 : 0x1100);
  }
};

TEST(Walker, AsksOnceForAPosition) {
  TwoFunctions space(6);
  for (const PositionAnswer answer : {PositionAnswer::plain_row, PositionAnswer::not_applicable}) {
    auto first = std::make_unique<Positional>(answer, "first");
    auto second = std::make_unique<Positional>(PositionAnswer::plain_row, "second");
    const Positional &asked = *first, &next = *second;
    Walker walker(space, list(std::move(first), std::move(second)));
    for (int i = 0; i < 2; ++i) {
      Collected got;
      const WalkEnd end = walker.walk(start(0x1050, 0x8000), got);
      EXPECT_TRUE(end.complete);
      EXPECT_EQ(end.reason, StopReason::zero_pc);
      ASSERT_EQ(got.frames.size(), 6u);
      for (std::size_t f = 0; f < 6; ++f) {
        EXPECT_EQ(got.frames[f].number, f);
        EXPECT_EQ(got.frames[f].pc, f == 0 ? 0x1050u : f % 2 ? 0x1100u : 0x1200u);
        EXPECT_EQ(got.frames[f].pc_exact, f == 0);
        EXPECT_EQ(got.frames[f].cfa, 0x8010 + 16 * f);
        EXPECT_EQ(got.registers[f].get(rsp), 0x8000 + 16 * f);
        EXPECT_EQ(got.registers[f].pc, got.frames[f].pc);
        const std::string_view by = answer == PositionAnswer::plain_row ? "first" : "second";
        EXPECT_EQ(got.frames[f].stepper(), f == 0 ? "context" : by);
      }
    }
    EXPECT_EQ(walker.rule_counts().misses, 3u);
    EXPECT_GE(walker.rule_counts().hits, 9u); // the other frames; a position may be asked for twice
    EXPECT_EQ(asked.steps, 0);
    EXPECT_EQ(asked.questions, 3);
    EXPECT_EQ(next.steps, 0);
    EXPECT_EQ(next.questions, answer == PositionAnswer::plain_row ? 0 : 3);
  }
}

/// A walk with kept rows ends where, and as, one ends whose stepper is asked for each frame.
TEST(Walker, EndsAsWithoutPlainRows) {
  for (const std::uint32_t most : {1u, 3u, 4u, 5u, 100'000u})
    for (const std::uint64_t last : {0x1200u, 0u, 0x1300u})
      for (const bool grows : {true, false}) {
        TwoFunctions space(1500);
        space.word(0x8008 + 16 * 1499, last); // not 0: the next word is missing
        Registers registers = start(0x1050, 0x8000, 5);
        if (!grows) registers.set(rsp, ~std::uint64_t{0} - 15), space.word(~std::uint64_t{0} - 7, 0x1100);
        std::vector<WalkEnd> ends;
        std::vector<Collected> got(2);
        for (const PositionAnswer answer : {PositionAnswer::plain_row, PositionAnswer::unknown}) {
          Walker walker(space, list(std::make_unique<Positional>(answer)));
          walker.set_max_frames(most);
          ends.push_back(walker.walk(registers, got[ends.size()]));
        }
        EXPECT_EQ(ends[0].complete, ends[1].complete);
        EXPECT_EQ(ends[0].reason, ends[1].reason);
        EXPECT_EQ(ends[0].detail, ends[1].detail);
        ASSERT_EQ(got[0].frames.size(), got[1].frames.size());
        for (std::size_t f = 0; f < got[0].frames.size(); ++f) {
          EXPECT_EQ(got[0].frames[f].pc, got[1].frames[f].pc);
          EXPECT_EQ(got[0].frames[f].has_cfa, got[1].frames[f].has_cfa);
          EXPECT_EQ(got[0].frames[f].cfa, got[1].frames[f].cfa);
          EXPECT_EQ(got[0].registers[f].known, got[1].registers[f].known);
          EXPECT_EQ(got[0].registers[f].get(rbp), got[1].registers[f].get(rbp));
        }
      }
}

TEST(Walker, EndsForTheReceiver) {
  class Two final : public FrameReceiver {
  public:
    bool frame(const Frame&, const Registers&) override { return ++frames < 2; }
    int frames = 0;
  };
  TwoFunctions space(6);
  for (const PositionAnswer answer : {PositionAnswer::plain_row, PositionAnswer::unknown}) {
    Walker walker(space, list(std::make_unique<Positional>(answer)));
    Two two;
    EXPECT_EQ(walker.walk(start(0x1050, 0x8000), two).reason, StopReason::interrupted);
    EXPECT_EQ(two.frames, 2);
  }
}

/// A receiver that walks with the same walker, from addresses that push what is kept out of the cache.
TEST(Walker, ReceiversMayWalk) {
  class TwoRows final : public FrameStepper {
  public:
    std::string_view name() const override { return "two rows"; }
    std::string_view description() const override { return ""; }
    int priority() const override { return 5; }
    StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
      PlainRow row;
      at_position(frame, memory, row);
      return row.apply(frame, memory, amd64, caller);
    }
    PositionAnswer at_position(const FrameState& frame, Memory&, PlainRow& row) override {
      const Rule fp = frame.registers.pc < 0x2000 ? Rule::same() : Rule::at_cfa(-16);
      row.compile({.row = {0, Rule::value(rsp, 16), Rule::at_cfa(-8), fp, false}}, amd64);
      return PositionAnswer::plain_row;
    }
  };
  class Walks final : public FrameReceiver {
  public:
    explicit Walks(Walker& walker) : walker_(walker) {}
    bool frame(const Frame& frame, const Registers& registers) override {
      outer.frame(frame, registers);
      for (std::uint64_t pc = 0x2000; pc < 0x4000; ++pc) {
        Collected inner;
        walker_.walk(start(pc, 0x9000), inner);
      }
      return true;
    }
    Collected outer;

  private:
    Walker& walker_;
  };
  TwoFunctions space(6);
  Walker walker(space, list(std::make_unique<TwoRows>()));
  Walks walks(walker);
  EXPECT_TRUE(walker.walk(start(0x1050, 0x8000, 5), walks).complete);
  ASSERT_EQ(walks.outer.frames.size(), 6u);
  for (const Registers& registers : walks.outer.registers) EXPECT_EQ(registers.get(rbp), 5u);
}

/// A stepper for a region is asked from the walk on before which it was added, or its region grew.
TEST(Walker, ForgetsPositionsWhenSteppersChange) {
  TwoFunctions space(6);
  Walker walker(space, list(std::make_unique<Positional>(PositionAnswer::plain_row)));
  const auto by_region = [&] {
    Collected got;
    walker.walk(start(0x1050, 0x8000), got);
    return std::ranges::count(got.frames, "region", &Frame::stepper);
  };
  EXPECT_EQ(by_region(), 0);
  auto region = std::make_unique<Positional>(PositionAnswer::unknown, "region", 4);
  walker.steppers().add(std::move(region), AddressRange::between(0x10ff, 0x1100));
  EXPECT_EQ(by_region(), 2);
  walker.steppers().extend("region", AddressRange::between(0x11ff, 0x1200));
  EXPECT_EQ(by_region(), 4);
  walker.steppers().remove("region");
  EXPECT_EQ(by_region(), 0);
  StepperGroup other;
  other.add(std::make_unique<Positional>(PositionAnswer::plain_row, "region"));
  walker.steppers() = std::move(other);
  EXPECT_EQ(by_region(), 5);
}

TEST(Walker, DetectsLoop) {
  MadeUpSpace space;
  // Even where a signal may switch stacks.
  Walker walker(space,
                list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                  StepResult result = to_caller(caller, frame.registers.pc, *frame.registers.get(rsp));
                  result.signal_frame = true;
                  return result;
                })));
  Collected got;
  EXPECT_EQ(walker.walk(start(0x1000, 0x7000), got).reason, StopReason::loop);
  EXPECT_EQ(got.frames.size(), 1u);
}

TEST(Walker, SignalsSwitchStacks) {
  MadeUpSpace space;
  Walker walker(space,
                list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                  if (frame.registers.pc == 0x1000) {
                    StepResult result = to_caller(caller, 0x1100, 0x100);
                    result.signal_frame = caller.pc_exact = true;
                    return result;
                  }
                  return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
                })));
  Collected got;
  EXPECT_TRUE(walker.walk(start(0x1000, 0x7000), got).complete);
  ASSERT_EQ(got.frames.size(), 2u);
  EXPECT_TRUE(got.frames[0].signal_frame);
  EXPECT_TRUE(got.frames[1].pc_exact);
  EXPECT_EQ(got.frames[1].lookup_pc(), 0x1100u);
}

TEST(Walker, StartsAtAnyFrame) {
  MadeUpSpace space;
  Walker walker(space, list(std::make_unique<Scripted>([](const FrameState& frame, Memory&, FrameState&) {
                  EXPECT_EQ(frame.lookup_pc(), 0x10ffu);
                  return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
                })));
  Collected got;
  EXPECT_TRUE(walker.walk(FrameState{start(0x1100, 0x7000), false}, got).complete);
  ASSERT_EQ(got.frames.size(), 1u);
  EXPECT_EQ(got.frames[0].lookup_pc(), 0x10ffu);
}

/// Only the frame that raised the signal is after its instruction.
TEST(Walker, LooksUpTheInstructionThatFaulted) {
  MadeUpSpace space;
  Walker walker(space,
                list(std::make_unique<Scripted>([](const FrameState& frame, Memory&, FrameState& caller) {
                  if (frame.registers.pc != 0x1000)
                    return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
                  StepResult result = to_caller(caller, 0x1100, 0x8000);
                  caller.pc_exact = result.signal_frame = true;
                  return result;
                })));
  for (int i = 0; i < 2; ++i) { // the second walk finds what the first one has left
    Collected got;
    EXPECT_TRUE(walker.walk(FrameState{start(0x1000, 0x7000), true, true}, got).complete);
    ASSERT_EQ(got.frames.size(), 2u);
    EXPECT_EQ(got.frames[0].lookup_pc(), 0xfffu);
    EXPECT_EQ(got.frames[1].lookup_pc(), 0x1100u);
  }
}

TEST(Walker, ReturnAddressZeroIsTheBottomOnlyIfExact) {
  MadeUpSpace space;
  for (const Trust trust : {Trust::exact, Trust::heuristic}) {
    Walker walker(space, list(std::make_unique<Scripted>([&](const FrameState&, Memory&, FrameState& caller) {
                    StepResult result = to_caller(caller, 0, 0x9000);
                    result.trust = trust;
                    return result;
                  })));
    Collected got;
    const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
    EXPECT_EQ(end.complete, trust == Trust::exact);
    EXPECT_EQ(end.reason, StopReason::zero_pc);
    EXPECT_EQ(got.frames.size(), 1u);
  }
}

TEST(Walker, FrameLimit) {
  MadeUpSpace space;
  Walker walker(space,
                list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                  return to_caller(caller, 0x1100, *frame.registers.get(rsp) + 16);
                })));
  for (const std::uint32_t limit : {1u, 7u, 1000u}) {
    Collected got;
    walker.set_max_frames(limit);
    const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
    EXPECT_EQ(end.reason, StopReason::frame_limit);
    EXPECT_FALSE(end.complete);
    EXPECT_EQ(got.frames.size(), limit);
  }
}

/// The first stepper loses rbx, and at 0x1300 needs it; the second keeps it. The walk goes on where both
/// agree on the frames between.
TEST(Walker, RecoversALostRegister) {
  MadeUpSpace space;
  for (const bool agree : {true, false}) {
    int repeated = 0;
    const auto next = [](const FrameState& frame) { return frame.registers.pc + 0x100; };
    auto lossy = std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
      if (frame.registers.pc == 0x1500)
        return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
      if (frame.registers.pc == 0x1300 && !frame.registers.has(rbx))
        return StepResult::failed(StopReason::unknown_register, rbx);
      return to_caller(caller, next(frame), *frame.registers.get(rsp) + 16);
    });
    auto full = std::make_unique<Scripted>(
        [&](const FrameState& frame, Memory&, FrameState& caller) {
          if (!frame.registers.has(rbx)) return StepResult::failed(StopReason::unknown_register, rbx);
          ++repeated;
          const std::uint64_t value = *frame.registers.get(rbx);
          const StepResult result =
              to_caller(caller, next(frame), *frame.registers.get(rsp) + (agree ? 16 : 32));
          caller.registers.set(rbx, value + 1);
          return result;
        },
        true, 20);
    Walker walker(space, list(std::move(lossy), std::move(full)));
    Registers first = start(0x1000, 0x7000);
    first.set(rbx, 5);
    Collected got;
    const WalkEnd end = walker.walk(first, got);
    EXPECT_EQ(end.complete, agree);
    if (!agree) {
      EXPECT_EQ(end.reason, StopReason::unknown_register);
      EXPECT_EQ(end.detail, rbx);
      EXPECT_EQ(got.frames.size(), 4u);
      continue;
    }
    ASSERT_EQ(got.frames.size(), 6u);
    EXPECT_EQ(repeated, 4); // 0x1000, 0x1100, 0x1200, and the step from 0x1300
    EXPECT_EQ(got.frames[3].stepper(), "scripted");
    EXPECT_EQ(got.frames[4].stepper(), "full");
    EXPECT_EQ(got.registers[4].get(rbx), 9u);
  }
}

// Only a lost register is a reason to repeat a walk, and only a stepper that keeps all of them can.
TEST(Walker, RepeatsForALostRegisterOnly) {
  for (const StopReason reason : {StopReason::unknown_register, StopReason::unreadable_memory})
    for (const bool with_full : {true, false}) {
      MadeUpSpace space;
      auto lossy = std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
        if (frame.registers.pc == 0x1300) return StepResult::failed(reason, 7);
        return to_caller(caller, frame.registers.pc + 0x100, *frame.registers.get(rsp) + 16);
      });
      int repeated = 0;
      auto full = std::make_unique<Scripted>(
          [&](const FrameState& frame, Memory&, FrameState&) {
            repeated += frame.registers.pc != 0x1300;
            return StepResult::not_applicable();
          },
          true, 20);
      Walker walker(space, list(std::move(lossy), with_full ? std::move(full) : nullptr));
      Collected got;
      const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
      EXPECT_EQ(end.reason, reason);
      EXPECT_EQ(end.detail, 7u);
      EXPECT_EQ(got.frames.size(), 4u);
      EXPECT_EQ(repeated, with_full && reason == StopReason::unknown_register ? 1 : 0);
    }
}

TEST(Steppers, SignalTrampolineByItsBytes) {
  MadeUpSpace space;
  space.code(0x1200, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  // struct ucontext at SP: r8 at 40, ... rip at 168 (asm/sigcontext.h)
  for (std::uint64_t offset = 40; offset <= 168; offset += 8) space.word(0x7000 + offset, 0x5000 + offset);
  Memory memory(space);
  const auto stepper = make_signal_stepper(amd64);
  for (const std::uint64_t pc : {0x1200u, 0x1207u}) {
    FrameState frame{start(pc, 0x7000), false}, caller;
    const StepResult result = stepper->step(frame, memory, caller);
    ASSERT_EQ(result.status, StepStatus::stepped);
    EXPECT_TRUE(result.signal_frame);
    EXPECT_TRUE(caller.pc_exact);
    EXPECT_EQ(caller.registers.pc, 0x5000u + 168);
    EXPECT_EQ(caller.registers.get(rsp), 0x5000u + 160);
    EXPECT_EQ(caller.registers.get(rbp), 0x5000u + 120);
    EXPECT_EQ(caller.registers.get(rbx), 0x5000u + 128);
    EXPECT_EQ(caller.registers.get(0), 0x5000u + 144); // rax
    EXPECT_EQ(caller.registers.get(15), 0x5000u + 96); // r15
  }
  FrameState elsewhere{start(0x1201, 0x7000), false}, caller;
  EXPECT_EQ(stepper->step(elsewhere, memory, caller).status, StepStatus::not_applicable);
}

/// Tables whose one function ends before 0x1200.
class EndsBeforeTrampoline final : public MadeUpSpace, public RuleSource {
public:
  RuleSource* rules_at(std::uint64_t) override { return this; }
  std::optional<SframeMatch> find_sframe(std::uint64_t address) override {
    return SframeMatch{
        {0, Rule::value(rsp, 8), Rule::at_cfa(-8), Rule::same(), false}, signal_frame, address == 0x11ff};
  }
  bool find_cfi(std::uint64_t address, CfiMatch& answer) override {
    OneFunction(8).find_cfi(address, answer);
    answer.signal_frame = signal_frame;
    answer.ends_here = address == 0x11ff;
    return true;
  }
  std::optional<AddressRange> find_function(std::uint64_t) override { return std::nullopt; }
  std::optional<AddressRange> find_symbol_extent(std::uint64_t) override { return std::nullopt; }

  bool signal_frame = false;
};

/// A signal handler returns to the first byte of a trampoline. The rule of the address before is that of
/// another function, unless it is a signal frame's; both tables are read in the same way.
TEST(Steppers, RulesBeforeATrampoline) {
  for (const char* name : {"sframe", "cfi"})
    for (const bool signal_frame : {false, true})
      for (const bool trampoline : {false, true}) {
        EndsBeforeTrampoline space;
        space.signal_frame = signal_frame;
        space.word(0x7000, 0x1100);
        if (trampoline) space.code(0x1200, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
        Memory memory(space);
        auto steppers = select_steppers(default_steppers(amd64, nullptr), name).value();
        const FrameState frame{start(0x1200, 0x7000), false};
        FrameState caller;
        const StepResult result = steppers.front()->step(frame, memory, caller);
        EXPECT_EQ(result.status,
                  trampoline && !signal_frame ? StepStatus::not_applicable : StepStatus::stepped)
            << name << ' ' << signal_frame << ' ' << trampoline;
      }
}

/// Longer code than any ABI's, found in pieces.
TEST(Abi, TrampolinesOfAnyLength) {
  for (const std::size_t size : {20u, 32u, 70u}) {
    std::vector<std::uint8_t> code(size);
    for (std::size_t i = 0; i < size; ++i) code[i] = static_cast<std::uint8_t>(i + 1);
    const std::uint8_t stops[] = {0, 18};
    const SignalTrampoline trampoline{code, stops, {}, 0};
    const UnwindAbi abi{.id = Abi::amd64, .trampolines = {&trampoline, 1}};
    std::vector<std::uint8_t> found = code; // at 0x1000
    const auto read = [&](std::uint64_t address, std::span<std::byte> out) {
      if (address < 0x1000 || address - 0x1000 > found.size() ||
          out.size() > found.size() - (address - 0x1000))
        return false;
      std::ranges::copy(std::as_bytes(std::span(found)).subspan(address - 0x1000, out.size()), out.begin());
      return true;
    };
    EXPECT_EQ(find_trampoline(abi, read, 0x1000), &trampoline) << size;
    EXPECT_EQ(find_trampoline(abi, read, 0x1012), &trampoline) << size;
    EXPECT_EQ(find_trampoline(abi, read, 0x1001), nullptr) << size;
    found.back() ^= 1;
    EXPECT_EQ(find_trampoline(abi, read, 0x1000), nullptr) << size;
    found.pop_back();
    EXPECT_EQ(find_trampoline(abi, read, 0x1000), nullptr) << size;
  }
}

TEST(Steppers, FramePointerNeedsACallBeforeTheReturnAddress) {
  MadeUpSpace space;
  space.word(0x7010, 0x7030); // caller's rbp
  space.word(0x7018, 0x1150); // return address
  Memory memory(space);
  const auto stepper = make_frame_pointer_stepper(amd64);
  FrameState frame{start(0x1500, 0x7000, 0x7010), true}, caller;
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);

  space.code(0x1148, {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0});
  const StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.trust, Trust::heuristic);
  EXPECT_EQ(result.cfa, 0x7020u);
  EXPECT_EQ(caller.registers.get(rbp), 0x7030u);
  EXPECT_EQ(caller.registers.get(rsp), 0x7020u);
  EXPECT_FALSE(caller.registers.has(rbx));

  // Below SP, or not aligned: no frame pointer.
  frame.registers.set(rsp, 0x7018);
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);
  frame.registers.set(rsp, 0x7000);
  frame.registers.set(rbp, 0x7011);
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);
}

/// Records of an interpreter, whose return addresses follow no call, count where the chain of them is sound:
/// up to one that a call has left, or for long enough.
TEST(Steppers, FramePointersOfAnInterpreter) {
  for (const Abi id : {Abi::amd64, Abi::aarch64_little, Abi::aarch64_big}) {
    const AbiTraits& abi = traits(id);
    const auto step = [&](const MadeUpSpace& made, FrameState& caller) {
      MadeUpSpace space = made;
      Memory memory(space);
      FrameState frame;
      frame.registers.pc = 0x1500;
      frame.registers.set(abi.sp, 0x7000);
      frame.registers.set(abi.fp, 0x7010);
      return make_frame_pointer_stepper(abi)->step(frame, memory, caller);
    };
    MadeUpSpace space(abi);
    space.word(0x7010, 0x7030);
    space.word(0x7018, 0x1200); // code, but after no call
    space.word(0x7030, 0x7050);
    space.word(0x7038, 0x1200);
    space.word(0x7050, 0);
    space.word(0x7058, 0x1150);
    FrameState caller;
    EXPECT_EQ(step(space, caller).status, StepStatus::not_applicable);
    if (id == Abi::amd64)
      space.call_before(0x1150);
    else
      space.code(0x114c, {0, 0, 0, 0x94}); // bl
    const StepResult result = step(space, caller);
    ASSERT_EQ(result.status, StepStatus::stepped);
    EXPECT_TRUE(result.may_skip);
    EXPECT_EQ(caller.registers.pc, 0x1200u);
    EXPECT_EQ(caller.registers.get(abi.fp), 0x7030u);

    MadeUpSpace down = space; // the next record is no further up
    down.word(0x7030, 0x7030);
    EXPECT_EQ(step(down, caller).status, StepStatus::not_applicable);
    MadeUpSpace data = space; // a return address in no code
    data.word(0x7038, 0x5000);
    EXPECT_EQ(step(data, caller).status, StepStatus::not_applicable);
    MadeUpSpace odd = space;
    odd.word(0x7010, 0x7031);
    EXPECT_EQ(step(odd, caller).status, StepStatus::not_applicable);
  }
}

/// A call as short as two bytes, where memory starts: its return address is read with what is there.
TEST(Steppers, CallAtTheStartOfMemory) {
  for (const bool is_call : {true, false}) {
    MadeUpSpace space;
    space.code(0x1000, {0xff, is_call ? 0xd0 : 0xe0}); // call *%rax, jmp *%rax
    space.word(0x7010, 0x7030);
    space.word(0x7018, 0x1002);
    Memory memory(space);
    FrameState frame{start(0x1500, 0x7000, 0x7010), true}, caller;
    const StepResult result = make_frame_pointer_stepper(amd64)->step(frame, memory, caller);
    EXPECT_EQ(result.status, is_call ? StepStatus::stepped : StepStatus::not_applicable);
  }
}

/// All of a call is code, its last byte too.
TEST(Steppers, CallAtTheEndOfCode) {
  for (const std::uint64_t end : {0x2000u, 0x2001u}) {
    MadeUpSpace space; // code ends at 0x2000
    space.call_before(end);
    space.word(0x7010, 0x7030);
    space.word(0x7018, end);
    Memory memory(space);
    FrameState frame{start(0x1500, 0x7000, 0x7010), true}, caller;
    const StepResult result = make_frame_pointer_stepper(amd64)->step(frame, memory, caller);
    EXPECT_EQ(result.status, end == 0x2000 ? StepStatus::stepped : StepStatus::not_applicable);
  }
}

/// Sixteen linked records are no accident, though none of their return addresses follows a call; fifteen may
/// be.
TEST(Steppers, ManyRecordsWithoutCalls) {
  for (const std::uint64_t count : {15u, 16u}) {
    MadeUpSpace space;
    for (std::uint64_t i = 0; i < count; ++i) {
      space.word(0x7010 + 16 * i, 0x7020 + 16 * i);
      space.word(0x7018 + 16 * i, 0x1200);
    }
    Memory memory(space);
    FrameState frame{start(0x1500, 0x7000, 0x7010), true}, caller;
    const StepResult result = make_frame_pointer_stepper(amd64)->step(frame, memory, caller);
    EXPECT_EQ(result.status, count == 16 ? StepStatus::stepped : StepStatus::not_applicable);
  }
}

/// A space whose budget has `left` bytes of guesses.
class LimitedSpace final : public MadeUpSpace {
public:
  explicit LimitedSpace(std::uint64_t left) {
    EXPECT_TRUE(limit_.take(Resource::guesses, (std::uint64_t{4} << 20) - left)); // docs/limits.md
  }
  Budget* budget() override { return &limit_; }

private:
  Budget limit_{Limits::standard, 0};
};

/// The scan reads 1,024 words; 32 of them cost as much as 8 bytes of code.
TEST(Steppers, ScanHasALimit) {
  constexpr std::uint64_t cost = 1024 / 32 * 8;
  struct Case {
    std::uint64_t place; ///< of the return address, in words from SP
    std::uint64_t left;
    bool found;
  };
  for (const Case& c : {Case{1022, cost + 8, true}, Case{1023, cost + 8, true}, Case{1024, cost + 8, false},
                        Case{1023, cost + 7, false}, Case{31, 16, true}, Case{31, 15, false},
                        Case{32, 23, false}, Case{32, 24, true}, Case{0, 7, false}}) {
    LimitedSpace space(c.left);
    for (std::uint64_t i = 0; i < 1040; ++i) space.word(0x8000 + 8 * i, 0);
    space.word(0x8000 + 8 * c.place, 0x1150);
    space.call_before(0x1150);
    Memory memory(space);
    FrameState frame{start(0x1500, 0x8000, 0), true}, caller;
    const StepResult result = make_scan_stepper(amd64)->step(frame, memory, caller);
    EXPECT_EQ(result.status, c.found ? StepStatus::stepped : StepStatus::not_applicable)
        << c.place << ' ' << c.left;
    EXPECT_EQ(space.budget()->is_used_up(), !c.found && c.place < 1024);
  }
}

/// The frame pointer is passed on unless it points into frames that have ended.
TEST(Steppers, ScanKeepsTheFramePointer) {
  for (const std::uint64_t fp : {0x8000u, 0x8008u, 0x800fu, 0x8010u, 0x9000u}) {
    MadeUpSpace space;
    space.word(0x8000, 0);
    space.word(0x8008, 0x1150); // the caller's SP is 0x8010
    space.call_before(0x1150);
    Memory memory(space);
    FrameState frame{start(0x1500, 0x8000, fp), true}, caller;
    const StepResult result = make_scan_stepper(amd64)->step(frame, memory, caller);
    ASSERT_EQ(result.status, StepStatus::stepped);
    EXPECT_EQ(result.cfa, 0x8010u);
    EXPECT_EQ(caller.registers.get(rsp), 0x8010u);
    EXPECT_EQ(caller.registers.has(rbp), fp >= 0x8010) << fp;
  }
}

/// A space with CFI: the CFA is sp + 16.
class DescribedSpace final : public MadeUpSpace {
public:
  RuleSource* rules_at(std::uint64_t) override { return &function_; }

private:
  OneFunction function_{16};
};

/// Where CFI describes the caller, the return address that it leads to must follow a call, or end the stack.
TEST(Steppers, ScanFollowsTheCfiOfWhatItFinds) {
  for (const std::uint64_t next : {0u, 0x1180u, 0x1190u}) {
    DescribedSpace space;
    for (std::uint64_t at = 0x8000; at < 0x8040; at += 8) space.word(at, 0);
    space.word(0x8000, 0x1150); // the caller's SP is 0x8008
    space.word(0x8010, next);
    space.call_before(0x1150);
    space.call_before(0x1180);
    Memory memory(space);
    FrameState frame{start(0x1500, 0x8000, 0), true}, caller;
    const StepResult result = make_scan_stepper(amd64)->step(frame, memory, caller);
    EXPECT_EQ(result.status, next == 0x1190 ? StepStatus::not_applicable : StepStatus::stepped) << next;
    if (next != 0x1190) {
      EXPECT_EQ(caller.registers.get(rsp), 0x8008u);
    }
  }
}

/// Go's table, for a function whose frame has 16 bytes below the return address: FP is saved in the upper 8.
class GoFunction final : public RuleSource {
public:
  std::optional<SframeMatch> find_sframe(std::uint64_t) override { return std::nullopt; }
  bool find_cfi(std::uint64_t, CfiMatch&) override { return false; }
  std::optional<GoMatch> find_go(std::uint64_t) override {
    return GoMatch{.start = 0x1000, .frame_size = 16, .saves_fp = true};
  }
  std::optional<AddressRange> find_function(std::uint64_t) override { return AddressRange{0x1000, 12}; }
  std::optional<AddressRange> find_symbol_extent(std::uint64_t) override { return std::nullopt; }
};

class GoSpace final : public MadeUpSpace {
public:
  RuleSource* rules_at(std::uint64_t) override { return &function_; }

private:
  GoFunction function_;
};

/// The table says where FP is at calls. Elsewhere the code says it, if it agrees with the table's CFA.
TEST(Steppers, GoTableWithTheCode) {
  struct Case {
    std::uint64_t pc;
    bool exact, has_code, has_fp;
  };
  for (const Case& c :
       {Case{0x1005, false, true, true}, Case{0x1005, false, false, true}, Case{0x1005, true, true, true},
        Case{0x1001, true, true, false}, Case{0x1005, true, false, false}}) {
    GoSpace space;
    if (c.has_code)
      space.code(0x1000, {0x55, 0x48, 0x83, 0xec, 0x08, 0x90, 0x48, 0x83, 0xc4, 0x08, 0x5d, 0xc3});
    for (std::uint64_t at = 0x8000; at < 0x8020; at += 8) space.word(at, 0x5000 + at);
    space.word(0x8010, 0x1080);
    space.call_before(0x1080, 0x1000);
    Memory memory(space);
    FrameState frame{start(c.pc, 0x8000, 0x9000), c.exact}, caller;
    const StepResult result = make_go_table_stepper(amd64)->step(frame, memory, caller);
    ASSERT_EQ(result.status, StepStatus::stepped);
    EXPECT_EQ(result.cfa, 0x8018u);
    EXPECT_EQ(caller.registers.pc, 0x1080u);
    EXPECT_EQ(caller.registers.get(rbp), c.has_fp ? std::optional<std::uint64_t>(0xd008) : std::nullopt)
        << std::hex << c.pc << ' ' << c.exact << ' ' << c.has_code;
  }
}

/// Once the budget is used up, no guess is made, and a walk ends.
TEST(Walker, EndsWithTheBudget) {
  int asked = 0;
  const auto guess = [&](int priority) {
    return std::make_unique<Scripted>(
        [&](const FrameState&, Memory& memory, FrameState&) {
          ++asked;
          EXPECT_FALSE(memory.space().may_guess(1));
          return StepResult::not_applicable();
        },
        false, priority);
  };
  for (const bool exact : {true, false}) {
    LimitedSpace limited(0);
    asked = 0;
    Walker walker(limited, list(guess(exact ? 10 : 110), guess(120)));
    Collected got;
    const WalkEnd end = walker.walk(start(0x1500, 0x8000), got);
    EXPECT_EQ(end.reason, StopReason::budget);
    EXPECT_FALSE(end.complete);
    EXPECT_EQ(got.frames.size(), 1u);
    EXPECT_EQ(asked, exact ? 1 : 2) << "the guess that comes after it is not made";
    EXPECT_EQ(walker.walk(start(0x1500, 0x8000), got).reason, StopReason::budget);
    EXPECT_EQ(got.frames.size(), 2u) << "the thread's own position";
    EXPECT_EQ(asked, exact ? 1 : 2);
  }
}

/// Frames are found without steps in debug information, which are for lines and variables, but without
/// nothing else.
TEST(Walker, GoesOnWithoutDebugInformation) {
  for (std::size_t i = 0; i < resource_count; ++i) {
    const auto resource = static_cast<Resource>(i);
    LimitedSpace space(1);
    EXPECT_FALSE(space.budget()->take(resource, ~std::uint64_t{0}));
    Walker walker(space,
                  list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                    return to_caller(caller, 0x1100, *frame.registers.get(rsp) + 16);
                  })));
    walker.set_max_frames(5000);
    Collected got;
    const StopReason reason = walker.walk(start(0x1000, 0x7000), got).reason;
    const bool goes_on = resource == Resource::debug_steps;
    EXPECT_EQ(reason, goes_on ? StopReason::frame_limit : StopReason::budget) << name_of(resource);
    EXPECT_EQ(got.frames.size(), goes_on ? 5000u : 1u) << name_of(resource);
  }
}

/// Frames are taken from the budget, all of them, by walks of any length.
TEST(Walker, FramesAreTakenFromTheBudget) {
  constexpr std::uint32_t all = 1 << 17; // docs/limits.md
  for (const std::uint32_t length : {1u, 1023u, 1024u, 1025u, 4096u}) {
    LimitedSpace space(1);
    Walker walker(space,
                  list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                    return to_caller(caller, 0x1100, *frame.registers.get(rsp) + 16);
                  })));
    walker.set_max_frames(length);
    std::uint32_t walks = 0;
    for (;; ++walks) {
      Collected got;
      if (walker.walk(start(0x1000, 0x7000), got).reason == StopReason::budget) break;
      ASSERT_LE(walks, all);
    }
    EXPECT_GE(walks + 2, all / length) << length;
    EXPECT_LE(walks, all / length + 1) << length;
  }
}

TEST(Walker, EndsWhereTheReceiverWants) {
  MadeUpSpace space;
  Walker walker(space,
                list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                  return to_caller(caller, 0x1100, *frame.registers.get(rsp) + 16);
                })));
  struct Three final : FrameReceiver {
    int left = 3;
    bool frame(const Frame&, const Registers&) override { return --left; }
  } three;
  const WalkEnd end = walker.walk(start(0x1000, 0x7000), three);
  EXPECT_EQ(end.reason, StopReason::interrupted);
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(three.left, 0);
}

/// A bottom after frames that may be missing is not certain.
TEST(Walker, FramesMayBeMissing) {
  MadeUpSpace space;
  for (const bool zero : {false, true}) {
    Walker walker(space,
                  list(std::make_unique<Scripted>([&](const FrameState& frame, Memory&, FrameState& caller) {
                    if (frame.registers.pc == 0x1100 && !zero)
                      return StepResult{.status = StepStatus::bottom, .reason = StopReason::bottom};
                    const bool first = frame.registers.pc == 0x1000;
                    StepResult result = to_caller(caller, first ? 0x1100 : 0, *frame.registers.get(rsp) + 16);
                    result.may_skip = first;
                    return result;
                  })));
    Collected got;
    const WalkEnd end = walker.walk(start(0x1000, 0x7000), got);
    EXPECT_FALSE(end.complete);
    EXPECT_EQ(end.reason, zero ? StopReason::zero_pc : StopReason::frames_missing);
    EXPECT_EQ(got.frames.size(), 2u);
  }
}

TEST(Walker, DescribesItsEnd) {
  EXPECT_EQ(describe({false, StopReason::unreadable_memory, 0xbeef}), "memory cannot be read (0xbeef)");
  EXPECT_EQ(describe({false, StopReason::unknown_register, 12}),
            std::string(message(StopReason::unknown_register)) + " (r12)");
  EXPECT_EQ(describe({true, StopReason::bottom, 5}), message(StopReason::bottom));
}

/// A guess that leads to no code is none, whichever stepper made it: the next stepper is asked.
TEST(Walker, GuessesMustLeadToCode) {
  for (const std::uint64_t nowhere : {0x0ull, 0x5000ull}) {
    MadeUpSpace space;
    const auto guess = [](std::uint64_t pc, std::uint64_t sp) {
      return [=](const FrameState& frame, Memory&, FrameState& caller) {
        if (frame.registers.pc != 0x1100) return StepResult::not_applicable();
        StepResult result = to_caller(caller, pc, sp);
        result.trust = Trust::heuristic;
        return result;
      };
    };
    auto second = std::make_unique<Scripted>(guess(0x1200, 0x7020), false, 120);
    second->set_name("second");
    Walker both(space,
                list(std::make_unique<Scripted>(guess(nowhere, 0x7010), false, 110), std::move(second)));
    Collected found;
    both.walk(start(0x1100, 0x7000), found);
    ASSERT_EQ(found.frames.size(), 2u);
    EXPECT_EQ(found.frames[1].pc, 0x1200u);
    EXPECT_EQ(found.frames[1].stepper(), "second");

    Walker one(space, list(std::make_unique<Scripted>(guess(nowhere, 0x7010), false, 110)));
    Collected alone;
    const WalkEnd end = one.walk(start(0x1100, 0x7000), alone);
    EXPECT_EQ(alone.frames.size(), 1u);
    EXPECT_FALSE(end.complete);
  }
}

TEST(Steppers, BadCallOnlyInInnermostFrame) {
  MadeUpSpace space;
  space.call_before(0x1150);
  space.word(0x7000, 0x1150);
  Memory memory(space);
  const auto stepper = make_context_stepper(amd64);
  FrameState frame{start(0, 0x7000, 0x7777), true}, caller;
  const StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.trust, Trust::heuristic);
  EXPECT_EQ(caller.registers.pc, 0x1150u);
  EXPECT_EQ(caller.registers.get(rsp), 0x7008u);
  EXPECT_EQ(caller.registers.get(rbp), 0x7777u);
  frame.pc_exact = false;
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);
  frame.pc_exact = true;
  frame.registers.pc = 0x1300; // that is code
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);
}

/// Encodings of call from the Intel SDM, volume 2, "CALL"; each ends the seven bytes.
TEST(Abi, Amd64CallsAreRecognised) {
  const UnwindAbi& abi = *find_unwind_abi(Abi::amd64);
  const auto ends = [&](std::vector<int> tail) {
    std::vector<std::byte> bytes(abi.longest_call - tail.size(), std::byte{0x90});
    for (const int b : tail) bytes.push_back(static_cast<std::byte>(b));
    return abi.ends_with_call(bytes);
  };
  EXPECT_TRUE(ends({0xe8, 1, 2, 3, 4}));
  EXPECT_TRUE(ends({0xff, 0xd0}));                   // call *%rax
  EXPECT_TRUE(ends({0x41, 0xff, 0xd4}));             // call *%r12
  EXPECT_TRUE(ends({0xff, 0x10}));                   // call *(%rax)
  EXPECT_TRUE(ends({0xff, 0x50, 0x18}));             // call *24(%rax)
  EXPECT_TRUE(ends({0xff, 0x90, 1, 2, 0, 0}));       // call *513(%rax)
  EXPECT_TRUE(ends({0xff, 0x15, 1, 2, 3, 4}));       // call *(%rip)
  EXPECT_TRUE(ends({0xff, 0x14, 0xc3}));             // call *(%rbx,%rax,8)
  EXPECT_TRUE(ends({0xff, 0x54, 0x24, 0x08}));       // call *8(%rsp)
  EXPECT_TRUE(ends({0xff, 0x94, 0x24, 1, 2, 0, 0})); // call *513(%rsp)
  EXPECT_TRUE(ends({0xff, 0x14, 0x25, 1, 2, 3, 4})); // call *0x04030201
  EXPECT_FALSE(ends({0x90, 0x90}));
  EXPECT_FALSE(ends({0xff, 0xe0}));       // jmp *%rax
  EXPECT_FALSE(ends({0xff, 0x50}));       // cut off
  EXPECT_FALSE(ends({0xe9, 1, 2, 3, 4})); // jmp
}

/// A walk that lost a register is repeated by CFI, which has rules for all of them.
TEST(Steppers, CfiRecoversAllRegisters) {
  for (const auto& stepper : default_steppers(amd64, nullptr))
    EXPECT_EQ(stepper->recovers_all_registers(), stepper->name() == "cfi") << stepper->name();
}

TEST(Steppers, AreChosenByName) {
  EXPECT_EQ(default_steppers(amd64, nullptr).size(), ready_steppers().size());
  auto chosen = select_steppers(default_steppers(amd64, nullptr), "cfi,frame-pointer");
  ASSERT_TRUE(chosen.has_value());
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_EQ((*chosen)[0]->name(), "cfi");
  for (const char* wrong : {"", "cfi,cfi", "nonsense", ",", "cfi,,sframe"})
    EXPECT_FALSE(select_steppers(default_steppers(amd64, nullptr), wrong).has_value()) << wrong;
}

TEST(Memory, NumbersOfEverySize) {
  MadeUpSpace space;
  space.word(0x100, 0x8877665544332211);
  Memory memory(space);
  EXPECT_EQ(memory.word(0x100), 0x8877665544332211u);
  EXPECT_EQ(memory.number(0x100, 1), 0x11u);
  EXPECT_EQ(memory.number(0x101, 3), 0x443322u);
  EXPECT_EQ(memory.number(0x104, 4), 0x88776655u);
  EXPECT_FALSE(memory.word(0x101).has_value());
  EXPECT_FALSE(memory.number(0x100, 0).has_value());
  EXPECT_FALSE(memory.number(0x100, 9).has_value());
  EXPECT_FALSE(memory.word(0xfffffffffffffffc).has_value());
}

} // namespace steppers_walker_test
