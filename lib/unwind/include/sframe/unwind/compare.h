// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares frame steppers: each of several steppers, alone, steps from every frame of a walk, and the result
// is compared with the walk's. On real stacks, this checks two kinds of tables for the same code against
// each other.
//
//   Comparison comparison(space, std::move(steppers));
//   comparison.begin();
//   comparison.end(walker.walk(thread.registers, comparison));
//   for (const StepperComparison& one : comparison.results()) ...

#pragma once

#include "sframe/unwind/walker.h"

#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// The compared values.
enum class ComparedValue : std::uint8_t {
  cfa, ///< of the frame itself
  pc,  ///< of its caller; 0: there is no caller
  fp,  ///< of its caller, if both know it
};

const char* name(ComparedValue value);

struct Difference {
  std::uint32_t frame = 0; ///< number of the frame from which the stepper was asked
  ComparedValue what = ComparedValue::pc;
  std::uint64_t found = 0;    ///< by the stepper
  std::uint64_t expected = 0; ///< by the walk
};

struct StepperComparison {
  const FrameStepper* stepper = nullptr;
  Trust trust = Trust::exact;
  std::uint32_t answered = 0; ///< frames from which it stepped or which it took for the outermost
  std::uint32_t differs = 0;  ///< frames for which its result differs
  std::optional<Difference> first;
};

class Comparison final : public FrameReceiver {
public:
  /// `space` must outlive the object.
  Comparison(AddressSpace& space, StepperList steppers);

  /// Call begin() before, and end() after, each walk whose frames go to this receiver.
  void begin();
  bool frame(const Frame& frame, const Registers& registers) override;
  void end(const WalkEnd& end);

  /// For the last finished walk; one entry per stepper, in their order.
  std::span<const StepperComparison> results() const { return results_; }

private:
  /// A stepper's answer for the caller of the last frame.
  struct Answer {
    bool given = false;
    std::uint64_t pc = 0;
    std::optional<std::uint64_t> cfa, fp;
  };
  void compare_frame(std::uint64_t pc, std::optional<std::uint64_t> fp);
  void ask(const Frame& frame, const Registers& registers);

  Memory memory_;
  std::uint16_t fp_;
  StepperList steppers_;
  std::vector<Answer> answers_; ///< same indices as steppers_
  std::vector<StepperComparison> results_;
  Frame last_;
  bool started_ = false;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
