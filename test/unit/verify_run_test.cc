// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run of a program becomes in a report: records made by hand, for the functions leaf [0x4f8, 0x4fb)
// and frame_fp [0x4fb, 0x50b) of test/inputs/amd64/v3-gas247.so, whose CFI has the same rules as its section.

#include "inputs.h"

#include <sframe/elf/image.h>
#include <sframe/verify/against_run.h>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace sframe::test {
namespace verify_run_test {

using namespace verify;

struct Findings final : Sink {
  void add(Finding finding) override { all.push_back(std::move(finding)); }
  std::vector<Finding> all;
};

class VerifyRun : public ::testing::Test {
protected:
  void SetUp() override {
    bytes_ = read_file(inputs() / "amd64/v3-gas247.so");
    image_ = *elf::Image::parse(bytes_);
    input_ = *Input::load({.image = &*image_});
    verdicts_.emplace(*input_);
  }

  RunCoverage check(const RunRecord& record) {
    found_ = {};
    return check_against_run(*input_, record, *verdicts_, found_);
  }

  /// Identifier and addresses of each finding: "R406 0x10-0x12".
  std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (const Finding& finding : found_.all)
      all.push_back(std::string(verify::check(finding.id).name) + ' ' + hex_text(finding.at->pc) + '-' +
                    hex_text(finding.end));
    return all;
  }
  static std::string hex_text(std::uint64_t number) { return sframe::hex(number); }

  std::vector<std::byte> bytes_;
  std::optional<elf::Image> image_;
  std::optional<Input> input_;
  std::optional<Verdicts> verdicts_;
  Findings found_;
};

using Places = std::vector<std::string>;

// Neighbours are one finding, up to the last instruction of the record.
TEST_F(VerifyRun, InstructionsWithoutARow) {
  const auto coverage = check({.instructions = {{0x100, 2, false, 1, 0},
                                                {0x102, 3, false, 1, 0},
                                                {0x106, 1, false, 1, 0}, // a byte was not executed
                                                {0x4f8, 1, true, 1, 1},
                                                {0x4f9, 1, false, 7, 0},
                                                {0x4fa, 1, false, 1, 0}},
                               .mismatches = {}});
  EXPECT_EQ(places(), (Places{"R406 0x100-0x105", "R406 0x106-0x107", "R406 0x4f9-0x4fb"}));
  EXPECT_EQ(coverage.steps, 12u);
  EXPECT_EQ(coverage.compared, 1u);
  EXPECT_EQ(coverage.functions, 1u);
  EXPECT_EQ(coverage.addresses, 6u);
  EXPECT_EQ(coverage.addresses_compared, 1u);
  EXPECT_EQ(coverage.addresses_without_row, 5u);
  check({.instructions = {{0x100, 2, false, 1, 0}}, .mismatches = {}});
  EXPECT_EQ(places(), Places{"R406 0x100-0x102"});
  check({});
  EXPECT_EQ(places(), Places{});
}

TEST_F(VerifyRun, VerdictsOfFunctions) {
  check({.instructions = {{0x4f8, 1, true, 3, 3}, {0x4fb, 1, true, 3, 0}}, .mismatches = {}});
  Summary summary = verdicts_->summary();
  EXPECT_EQ(summary.agree, 1u);
  EXPECT_EQ(summary.undecided, 2u) << "no caller was known there; and `empty` has no bytes";
  EXPECT_EQ(summary.unreached, summary.functions - 3);
  EXPECT_EQ(summary.contradiction, 0u);
  // Another run compares it.
  check({.instructions = {{0x4fb, 1, true, 3, 1}, {0x4fc, 3, true, 3, 0}}, .mismatches = {}});
  summary = verdicts_->summary();
  EXPECT_EQ(summary.undecided, 2u) << "verdicts do not improve";
}

// Each kind of fault, at instructions of one byte in frame_fp; the CFI has the same rules.
TEST_F(VerifyRun, Faults) {
  const std::vector<RunInstruction> once = {{0x4fb, 1, true, 4, 4}};
  struct Case {
    RunMismatch mismatch;
    std::string place, text;
  };
  const std::string agrees = " (1 of 4 times)";
  const Case cases[] = {
      {{0x4fb, RunFault::cfa, 1, true, 0x7000, 0x6ff8}, "R401", "the CFA rule sp+8 yields CFA-8"},
      {{0x4fb, RunFault::cfa, 1, true, 0x7000, 0x7008}, "R401", "the CFA rule sp+8 yields CFA+8"},
      {{0x4fb, RunFault::cfa, 1, true, 0x7000, 0x107000}, "R401", "the CFA rule sp+8 yields CFA+1048576"},
      {{0x4fb, RunFault::cfa, 1, true, 0x7000, 0x107001}, "R401", "the CFA rule sp+8 yields 0x107001"},
      {{0x4fb, RunFault::cfa, 1, true, 0x107001, 0x7001}, "R401", "the CFA rule sp+8 yields CFA-1048576"},
      {{0x4fb, RunFault::cfa, 1, true, 0x107001, 0x7000}, "R401", "the CFA rule sp+8 yields 0x7000"},
      {{0x4fb, RunFault::cfa, 1, false, 0x7000, 0},
       "R401",
       "the CFA rule sp+8 reads memory that does not exist"},
      {{0x4fb, RunFault::ra, 1, true, 0x1234, 0x99}, "R402", "yields 0x99, the caller is at 0x1234"},
      {{0x4fb, RunFault::fp, 1, true, 0x10, 0x20}, "R403", "yields 0x20, the caller's is 0x10"},
      {{0x4fb, RunFault::fp, 1, false, 0x10, 0}, "R403", "reads memory that does not exist"},
      {{0x4fb, RunFault::no_caller, 1, true, 0, 0},
       "R404",
       "the row has a caller, but the program starts here"},
      {{0x4fb, RunFault::outermost, 1, true, 0x1234, 0},
       "R405",
       "the row has no caller, but the code was called from 0x1234"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    verdicts_.emplace(*input_);
    check({.instructions = once, .mismatches = {one.mismatch}});
    ASSERT_EQ(places(), Places{one.place + " 0x4fb-0x4fc"});
    const Finding& finding = found_.all[0];
    EXPECT_NE(finding.message.find(one.text + agrees), std::string::npos) << finding.message;
    EXPECT_TRUE(finding.compiler) << "the section reproduces the CFI";
    EXPECT_EQ(finding.sframe, "cfa=sp+8 ra=[cfa-8] fp=same");
    EXPECT_EQ(finding.cfi, finding.sframe);
    EXPECT_NE(finding.instruction.find("push"), std::string::npos) << finding.instruction;
    EXPECT_EQ(verdicts_->summary().contradiction, 1u);
    EXPECT_EQ(verdicts_->summary().contradiction_in_cfi, 1u);
  }
}

// The same fault at neighbouring instructions is one finding, with the first one's text; in another function
// it is another finding. Where nothing is known of the address, there is none.
TEST_F(VerifyRun, FaultsOfNeighbours) {
  const auto wrong = [](std::uint64_t address) {
    return RunMismatch{address, RunFault::ra, 1, true, 0x1234, address};
  };
  check({.instructions = {{0x100, 1, true, 1, 1},
                          {0x4fa, 1, true, 1, 1},
                          {0x4fb, 1, true, 1, 1},
                          {0x4fc, 3, true, 1, 1},
                          {0x501, 1, true, 1, 1}},
         .mismatches = {wrong(0x100), wrong(0x4fa), wrong(0x4fb), wrong(0x4fc), wrong(0x501)}});
  EXPECT_EQ(places(), (Places{"R402 0x4fa-0x4fb", "R402 0x4fb-0x4ff", "R402 0x501-0x502"}));
  EXPECT_NE(found_.all[1].message.find("yields 0x4fb"), std::string::npos);
  EXPECT_EQ(verdicts_->summary().contradiction, 2u);
}

} // namespace verify_run_test
} // namespace sframe::test
