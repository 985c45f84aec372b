// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is kept of a run, and its limits.

#include "recorder.h"

#include <gtest/gtest.h>

namespace {

using namespace sframe;
using run::FileRecorder;
using run::Room;
using verify::RunFault;

TEST(RunRecord, OneEntryPerInstruction) {
  Room room(Limits::standard);
  FileRecorder recorder(room);
  run::Decoded decoded;
  decoded.instruction.length = 4;
  for (int i = 0; i < 3; ++i) {
    recorder.visit(0x20, decoded)->compared += i == 1;
    recorder.add({.address = 0x20, .fault = RunFault::fp, .expected = 5});
    recorder.add({.address = 0x20, .fault = RunFault::cfa, .expected = 6});
  }
  recorder.visit(0x10, decoded);
  const verify::RunRecord record = recorder.take();
  ASSERT_EQ(record.instructions.size(), 2u);
  EXPECT_EQ(record.instructions[0].address, 0x10u);
  EXPECT_EQ(record.instructions[1].visits, 3u);
  EXPECT_EQ(record.instructions[1].compared, 1u);
  EXPECT_EQ(record.instructions[1].length, 4u);
  ASSERT_EQ(record.mismatches.size(), 2u);
  EXPECT_EQ(record.mismatches[0].fault, RunFault::cfa); // in the order of RunFault
  EXPECT_EQ(record.mismatches[0].times, 3u);
  EXPECT_FALSE(room.problem());
}

TEST(RunRecord, LimitIsOfAllFilesTogether) {
  Room room(Limits::strict);
  room.instructions = 3;
  room.faults = 1;
  FileRecorder first(room), second(room);
  run::Decoded decoded;
  EXPECT_NE(first.visit(1, decoded), nullptr);
  EXPECT_NE(first.visit(2, decoded), nullptr);
  EXPECT_NE(second.visit(1, decoded), nullptr);
  EXPECT_EQ(second.visit(2, decoded), nullptr);
  EXPECT_NE(second.visit(1, decoded), nullptr); // known ones are counted further
  first.add({.address = 1});
  first.add({.address = 1});
  second.add({.address = 1});
  ASSERT_TRUE(room.problem());
  EXPECT_EQ(room.problem()->what,
            "limit of a run reached: 1048576 instructions in files: 1 steps at others were not compared; "
            "16384 faulty "
            "rules of instructions: 1 faults of others are not reported (--limits=off removes the limit)");
}

TEST(RunRecord, WithoutLimits) {
  EXPECT_EQ(Room(Limits::off).instructions, ~std::uint64_t{0});
  EXPECT_EQ(Room(Limits::standard).instructions, std::uint64_t{1} << 22); // docs/limits.md
}

TEST(RunRecord, DecodedCodeIsBounded) {
  run::DecodedCode code;
  const auto first = std::make_shared<run::Decoded>();
  code.add(0, first);
  for (std::uint64_t i = 1; i < run::DecodedCode::most; ++i) code.add(i, first);
  EXPECT_NE(code.find(0), nullptr);
  code.add(run::DecodedCode::most, first);
  EXPECT_EQ(code.find(0), nullptr);
  EXPECT_NE(code.find(run::DecodedCode::most), nullptr);
}

} // namespace
