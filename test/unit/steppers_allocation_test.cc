// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Once a walker has walked a stack, walking it again allocates nothing, neither in steps nor in lookups in
// caches and tables. Calls of operator new are counted over the committed cores.

#include "allocations.h"
#include "inputs.h"

#include "sframe/core/core.h"
#include "sframe/elf/unpack.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <gtest/gtest.h>

#include <string>

namespace steppers_allocation_test {

using namespace sframe;
using namespace sframe::process;
using namespace sframe::steppers;
using namespace sframe::unwind;

struct Counter final : FrameReceiver {
  std::size_t frames = 0, by_sframe = 0, by_cfi = 0, by_guess = 0;
  bool frame(const Frame& frame, const Registers&) override {
    ++frames;
    by_sframe += frame.stepper() == "sframe";
    by_cfi += frame.stepper() == "cfi";
    by_guess += frame.trust == Trust::heuristic;
    return true;
  }
};

class Allocations : public testing::TestWithParam<const char*> {
protected:
  /// Walks the core's thread twice; what the second walk found. `steppers` as in --steppers.
  Counter walk_twice(std::string_view steppers, bool generate) {
    Counter second;
    const auto folder = test::small_cores();
    const auto packed = test::read_file(folder / (std::string(GetParam()) + ".core.zst"));
    const auto unpacked = elf::unpack(packed);
    if (!unpacked) return second; // built without zstd
    const auto core = core::Core::parse(unpacked->bytes());
    EXPECT_TRUE(core.has_value());
    const auto process = CoreProcess::create(
        *core, {.executable = folder / (std::string(GetParam()) + ".elf"), .generate_sframe = generate});
    EXPECT_TRUE(process.has_value());
    CoreSpace& space = (*process)->space();
    auto chosen = select_steppers(default_steppers(space.abi(), space.main_module()), steppers);
    EXPECT_TRUE(chosen.has_value());
    Walker walker(space, std::move(*chosen));

    Counter first;
    const Registers& start = (*process)->threads().front().registers;
    const std::size_t cold = test::allocations();
    walker.walk(start, first);
    const std::size_t warm = test::allocations();
    EXPECT_GT(warm, cold) << "the modules' files are opened";
    walker.walk(start, second);
    EXPECT_EQ(test::allocations(), warm);
    EXPECT_EQ(second.frames, first.frames);
    return second;
  }
};

TEST_P(Allocations, Cfi) {
  const Counter walked = walk_twice("cfi,signal", false);
  if (!walked.frames) GTEST_SKIP() << "built without zstd";
  EXPECT_GE(walked.by_cfi, 9u);
}

TEST_P(Allocations, Sframe) {
  const Counter walked = walk_twice("sframe,signal", true);
  if (!walked.frames) GTEST_SKIP() << "built without zstd";
  EXPECT_GE(walked.by_sframe, 2u); // on some ABIs SFrame cannot represent all
}

TEST_P(Allocations, Mixed) {
  const Counter walked = walk_twice("sframe,cfi,signal,bottom,context,analysis,frame-pointer,scan", true);
  if (!walked.frames) GTEST_SKIP() << "built without zstd";
  EXPECT_GE(walked.frames, 13u);
}

TEST_P(Allocations, ByCode) {
  const Counter walked = walk_twice("analysis", false);
  if (!walked.frames) GTEST_SKIP() << "built without zstd";
  EXPECT_GE(walked.by_guess, 1u);
}

INSTANTIATE_TEST_SUITE_P(Cores, Allocations, testing::Values("aarch64", "aarch64_be", "aarch64_pac", "s390x"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace steppers_allocation_test
