// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of steppers with a walk whose frames the test supplies.

#include "made_up_space.h"

#include "sframe/unwind/compare.h"

#include <gtest/gtest.h>

#include <string>

namespace unwind_compare_test {

using namespace sframe;
using namespace sframe::test;

/// The walk: 0x1000 (CFA 0x7010), its caller 0x1100 (CFA 0x7020), the bottom. FP is 0x7100 in all frames.
constexpr std::uint64_t fp = 0x7100;

std::unique_ptr<Scripted> stepper(Scripted::Step step) {
  return std::make_unique<Scripted>(std::move(step));
}

/// The right answer of a frame, with `change` made to it.
template <class Change> std::unique_ptr<Scripted> right_but(Change change) {
  return stepper([change](const FrameState& frame, Memory&, FrameState& caller) {
    StepResult result{.status = StepStatus::bottom, .reason = StopReason::bottom};
    if (frame.registers.pc == 0x1000) {
      result = to_caller(caller, 0x1100, 0x7010);
      caller.registers.set(rbp, fp);
    }
    change(frame, caller, result);
    return result;
  });
}

class Comparisons : public testing::Test {
protected:
  void walk(Comparison& comparison, bool complete = true, bool has_cfa = true) {
    comparison.begin();
    Frame frame{.pc = 0x1000};
    frame.has_cfa = has_cfa;
    frame.cfa = 0x7010;
    EXPECT_TRUE(comparison.frame(frame, start(0x1000, 0x7000, fp)));
    frame = {.number = 1, .pc_exact = false, .pc = 0x1100};
    frame.has_cfa = has_cfa;
    frame.cfa = 0x7020;
    EXPECT_TRUE(comparison.frame(frame, start(0x1100, 0x7010, fp)));
    comparison.end({complete, complete ? StopReason::bottom : StopReason::no_rule, 0});
  }
  /// "answered/differs", and for the first difference " FRAME VALUE FOUND EXPECTED" in hexadecimal.
  std::string compared(std::unique_ptr<Scripted> one, bool complete = true, bool has_cfa = true) {
    Comparison comparison(space, list(std::move(one)));
    walk(comparison, complete, has_cfa);
    EXPECT_EQ(comparison.results().size(), 1u);
    return text(comparison.results()[0]);
  }
  static std::string text(const StepperComparison& result) {
    std::string out = std::to_string(result.answered) + '/' + std::to_string(result.differs);
    char numbers[64];
    if (const auto& first = result.first) {
      std::snprintf(numbers, sizeof numbers, " %u %s %lx %lx", first->frame, name(first->what), first->found,
                    first->expected);
      out += numbers;
    }
    return out;
  }

  MadeUpSpace space;
};

TEST_F(Comparisons, FindEachValue) {
  using Result = StepResult;
  EXPECT_EQ(compared(right_but([](auto&, FrameState&, Result&) {})), "2/0");
  EXPECT_EQ(compared(right_but([](auto&, FrameState& caller, Result&) { ++caller.registers.pc; })),
            "2/1 0 pc 1101 1100");
  EXPECT_EQ(compared(right_but([](auto&, FrameState&, Result& result) { result.cfa += 8; })),
            "2/1 0 cfa 7018 7010");
  EXPECT_EQ(compared(right_but([](auto&, FrameState& caller, Result&) { caller.registers.set(rbp, 1); })),
            "2/1 0 fp 1 7100");
  // Of several values, the first in this order.
  EXPECT_EQ(compared(right_but([](auto&, FrameState& caller, Result& result) {
              result.cfa += 8;
              caller.registers.set(rbp, 1);
            })),
            "2/1 0 cfa 7018 7010");
}

TEST_F(Comparisons, OnlyWhatBothKnow) {
  const auto wrong_cfa = [](auto&, FrameState& caller, StepResult& result) {
    result.has_cfa = false;
    result.cfa = 1;
    caller.registers.forget(rbp);
  };
  EXPECT_EQ(compared(right_but(wrong_cfa)), "2/0");
  EXPECT_EQ(compared(right_but([](auto&, FrameState&, StepResult& result) { result.cfa = 1; }), true, false),
            "2/0");
}

TEST_F(Comparisons, TheOutermostFrame) {
  // It has a caller, according to the stepper.
  const auto goes_on = [](const FrameState& frame, FrameState& caller, StepResult& result) {
    if (frame.registers.pc == 0x1100) result = to_caller(caller, 0x1200, 0x7020);
  };
  EXPECT_EQ(compared(right_but(goes_on)), "2/1 1 pc 1200 0");
  EXPECT_EQ(compared(right_but(goes_on), false), "1/0") << "the walk does not know whether there is one";
  // The bottom, one frame too early.
  const auto ends = [](auto&, FrameState&, StepResult& result) { result.status = StepStatus::bottom; };
  EXPECT_EQ(compared(right_but(ends)), "2/1 0 pc 0 1100");
  // Some tables have a CFA for it and others do not.
  const auto cfa = [](const FrameState& frame, FrameState&, StepResult& result) {
    if (frame.registers.pc == 0x1100) result.has_cfa = true, result.cfa = 1;
  };
  EXPECT_EQ(compared(right_but(cfa)), "2/0");
}

TEST_F(Comparisons, StepsThatAreNotAnswers) {
  EXPECT_EQ(compared(stepper([](auto&, Memory&, auto&) { return StepResult::not_applicable(); })), "0/0");
  EXPECT_EQ(
      compared(stepper([](auto&, Memory&, auto&) { return StepResult::failed(StopReason::bad_table); })),
      "0/0");
  Comparison none(space, list(stepper([](auto&, Memory&, auto&) { return StepResult::not_applicable(); })));
  none.begin();
  none.end({true, StopReason::bottom, 0});
  EXPECT_EQ(text(none.results()[0]), "0/0");
}

/// What each stepper gets: the frames of the walk, as they are.
TEST_F(Comparisons, EachStepperAndEachWalkAlone) {
  std::vector<std::string> asked;
  auto first = stepper([&](const FrameState& frame, Memory&, FrameState&) {
    char text[64];
    std::snprintf(text, sizeof text, "%lx %d %d %lx", frame.registers.pc, frame.pc_exact, frame.after_fault,
                  frame.registers.get(rsp).value_or(0));
    asked.push_back(text);
    StepResult result = StepResult::not_applicable();
    if (frame.registers.pc == 0x1100) result.status = StepStatus::bottom;
    result.trust = Trust::heuristic;
    return result;
  });
  auto second = right_but([](auto&, FrameState& caller, StepResult&) { caller.registers.pc += 4; });
  const FrameStepper* const pointers[] = {first.get(), second.get()};
  Comparison comparison(space, list(std::move(first), std::move(second)));
  for (int i = 0; i < 2; ++i) {
    asked.clear();
    walk(comparison);
    EXPECT_EQ(asked, (std::vector<std::string>{"1000 1 0 7000", "1100 0 0 7010"}));
    ASSERT_EQ(comparison.results().size(), 2u);
    EXPECT_EQ(comparison.results()[0].stepper, pointers[0]);
    EXPECT_EQ(comparison.results()[0].trust, Trust::heuristic);
    EXPECT_EQ(text(comparison.results()[0]), "1/0");
    EXPECT_EQ(comparison.results()[1].stepper, pointers[1]);
    EXPECT_EQ(comparison.results()[1].trust, Trust::exact);
    EXPECT_EQ(text(comparison.results()[1]), "2/1 0 pc 1104 1100");
  }
}

/// Two frames differ: both count, the first is reported.
TEST_F(Comparisons, TheFirstDifferenceIsKept) {
  const auto wrong = [](const FrameState& frame, FrameState& caller, StepResult& result) {
    result = to_caller(caller, frame.registers.pc + 0x200, 0x7010);
  };
  EXPECT_EQ(compared(right_but(wrong)), "2/2 0 pc 1200 1100");
}

/// Return addresses are compared without authentication codes; the space has 48 bits of address.
TEST_F(Comparisons, WithoutAuthenticationCodes) {
  const auto sign = [](auto&, FrameState& caller, StepResult&) {
    caller.registers.pc |= std::uint64_t{0x2b} << 48;
  };
  EXPECT_EQ(compared(right_but(sign)), "2/0");
}

} // namespace unwind_compare_test
