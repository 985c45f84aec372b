// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is kept of a run, and its limits.

#include "recorder.h"

#include "made_up_space.h"
#include "printers.h"

#include <gtest/gtest.h>
#include <string>

namespace run_record_test {

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
  EXPECT_EQ(Room(Limits::standard).instructions, std::uint64_t{1} << 22); // docs/dev/limits.md
  EXPECT_EQ(Room(Limits::standard).faults, 65536u);
  EXPECT_EQ(Room(Limits::standard).files, 4096u);
  EXPECT_EQ(Room(Limits::strict).files, 1024u);
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

/// Rows compared with the caller of a function on AMD64: in it SP is 0x7000, the CFA 0x7020, the return
/// address 0x1234, and the caller's FP, 0x77, is saved below.
class RunComparison : public testing::Test {
protected:
  RunComparison() {
    space.word(0x7018, 0x1234);
    space.word(0x7010, 0x77);
    registers.pc = 0x1500;
    registers.set(7, 0x7000);
    registers.set(6, 0x88);
  }
  /// The faults, as text: what, whether it was computed, what is right and what was found.
  std::string faults(const FrameRow& row, const run::Call* expected) {
    unwind::Memory memory(space);
    const auto found = run::compare({.row = row}, space.abi(), registers, memory, expected);
    unknown = found.unknown;
    std::string text;
    for (const verify::RunMismatch& one : found.faults) {
      const char* const names[] = {"no caller", "outermost", "cfa", "ra", "fp"};
      text += name(one.fault, names);
      text += one.computed ? " " : " not computed ";
      text += std::to_string(one.expected) + " " + std::to_string(one.found) + ";";
    }
    return text;
  }
  static std::string name(RunFault fault, const char* const (&names)[5]) {
    switch (fault) {
    case RunFault::no_caller: return names[0];
    case RunFault::outermost: return names[1];
    case RunFault::cfa: return names[2];
    case RunFault::ra: return names[3];
    case RunFault::fp: return names[4];
    default: return "another";
    }
  }
  static FrameRow row(Rule cfa, Rule ra = Rule::at_cfa(-8), Rule fp = Rule::at_cfa(-16)) {
    return {0, cfa, ra, fp, false};
  }

  test::MadeUpSpace space;
  unwind::Registers registers;
  run::Call caller{.ra = 0x1234, .cfa = 0x7020, .fp = 0x77, .limit = 0x7018};
  run::Unknown unknown = run::Unknown::none;
};

TEST_F(RunComparison, RightRows) {
  EXPECT_EQ(faults(row(Rule::value(7, 32)), &caller), "");
  EXPECT_EQ(faults(row(Rule::value(7, 32), Rule::at_cfa(-8), Rule::undefined()), &caller), "");
  EXPECT_EQ(faults(row(Rule::undefined(), Rule::undefined(), Rule::undefined()), nullptr), "");
  EXPECT_EQ(unknown, run::Unknown::none);
}

TEST_F(RunComparison, WrongRows) {
  EXPECT_EQ(faults(row(Rule::value(7, 32), Rule::at_cfa(-8), Rule::same()), &caller), "fp 119 136;");
  EXPECT_EQ(faults(row(Rule::value(7, 32), Rule::at_cfa(-16)), &caller), "ra 4660 119;");
  space.word(0x7020, 0x1234);
  EXPECT_EQ(faults(row(Rule::value(7, 40)), &caller), "cfa 28704 28712;");
  EXPECT_EQ(faults(row(Rule::value(7, 32)), nullptr), "no caller 0 0;");
  EXPECT_EQ(faults(row(Rule::undefined(), Rule::undefined(), Rule::undefined()), &caller),
            "outermost 4660 0;");
  EXPECT_EQ(faults(row(Rule::value(7, 32), Rule::at_cfa(-8), Rule::in_register(3)), &caller),
            "fp not computed 119 0;");
}

/// AArch64: 0x1234 with a signature above its 48 bits, which only a row that says so removes.
TEST(RunRecord, SignedReturnAddress) {
  test::MadeUpSpace space(traits(Abi::aarch64_little));
  unwind::Memory memory(space);
  unwind::Registers registers;
  registers.set(31, 0x7000);
  registers.set(29, 0x77);
  const run::Call caller{.ra = 0x1234, .cfa = 0x7000, .fp = 0x77, .limit = 0x7000};
  for (const bool is_signed : {true, false})
    for (const bool row_says_so : {true, false}) {
      registers.set(30, is_signed ? 0x003f'0000'0000'1234 : 0x1234);
      const FrameRow row{0, Rule::value(31, 0), Rule::same(), Rule::same(), row_says_so};
      const auto faults = run::compare({.row = row}, space.abi(), registers, memory, &caller).faults;
      ASSERT_EQ(faults.size(), is_signed && !row_says_so ? 1u : 0u);
      if (faults.empty()) continue;
      EXPECT_EQ(faults[0].fault, RunFault::ra);
      EXPECT_EQ(faults[0].found, 0x003f'0000'0000'1234u);
    }
}

/// A CFA that is wrong is the cause of a return address that cannot be read; a right one is not.
TEST_F(RunComparison, UnreadableMemory) {
  EXPECT_EQ(faults(row(Rule::value(7, 0x9000)), &caller), "cfa 28704 65536;");
  EXPECT_EQ(faults(row(Rule::value(7, 32), Rule::at_cfa(-0x800)), &caller), "ra not computed 4660 0;");
  EXPECT_EQ(faults(row(Rule::value(3, 0)), &caller), "cfa not computed 28704 0;");
}

/// What the program itself has replaced shows nothing; a handler also replaces where the interrupted code
/// goes on.
TEST_F(RunComparison, ReplacedReturnAddress) {
  space.word(0x7018, 0x5678);
  EXPECT_EQ(faults(row(Rule::value(7, 32)), &caller), "");
  EXPECT_EQ(unknown, run::Unknown::redirected);
  caller.interrupted = true;
  EXPECT_EQ(faults(row(Rule::value(7, 40)), &caller), "");
  EXPECT_EQ(unknown, run::Unknown::redirected);
  space.word(0x7018, 0x1234);
  EXPECT_EQ(faults(row(Rule::value(7, 40), Rule::at_cfa(-16)), &caller), "cfa 28704 28712;");
  EXPECT_EQ(unknown, run::Unknown::none);
}

TEST(RunRecord, ZeroLengthsCountAsOne) { // bytes that are no instruction
  Room room(Limits::standard);
  FileRecorder recorder(room);
  recorder.visit(0x20, run::Decoded());
  const verify::RunRecord record = recorder.take();
  ASSERT_EQ(record.instructions.size(), 1u);
  EXPECT_EQ(record.instructions[0].length, 1u);
  EXPECT_FALSE(record.instructions[0].has_row);
  EXPECT_TRUE(recorder.take().instructions.empty());
}

/// Faults of one rule count as one, and each is kept by its address and kind.
TEST(RunRecord, FaultsAreKeptByRule) {
  Room room(Limits::standard);
  FileRecorder recorder(room);
  for (const std::uint64_t address : {8u, 4u, 8u}) recorder.add({.address = address, .fault = RunFault::ra});
  recorder.add({.address = 8, .fault = RunFault::fp});
  const verify::RunRecord record = recorder.take();
  ASSERT_EQ(record.mismatches.size(), 3u);
  EXPECT_EQ(record.mismatches[0].address, 4u);
  EXPECT_EQ(record.mismatches[0].times, 1u);
  EXPECT_EQ(record.mismatches[1].times, 2u);
  EXPECT_TRUE(recorder.take().mismatches.empty());
  room.files_lost = 2;
  EXPECT_EQ(
      room.problem()->what,
      "limit of a run reached: 4096 files: 2 others were not verified (--limits=off removes the limit)");
}

} // namespace run_record_test
