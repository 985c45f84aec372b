// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of the machine's real libraries and programs agrees with their CFI. Wrong CFI from compilers
// and hand-written code without CFI are rare, and so must be disagreement.

#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/lsda.h"
#include "sframe/code/analysis.h"
#include "sframe/code/image_environment.h"
#include "sframe/code/row_follower.h"
#include "sframe/elf/file.h"
#include "sframe/generate/cfi_input.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace code_system_test {

using namespace sframe;
using namespace sframe::code;

/// Functions and instructions by what the comparison found.
struct Counts {
  std::uint64_t functions = 0, contradicted = 0, undecided = 0;
  std::uint64_t instructions = 0, unrepresentable = 0, tables_wrong = 0;
};

class Comparison {
public:
  explicit Comparison(const elf::Image& image)
      : image_(image), environment_(image), analyzer_(*image.abi()), follower_(*image.abi()),
        follower_of_first_(*image.abi()) {}

  void run(const cfi::CfiSection& section) {
    for (auto fdes = section.fdes();;) {
      const auto fde = fdes.next();
      if (!fde) continue;
      if (!*fde) break;
      if ((*fde)->size && image_.is_executable((*fde)->start)) compare(section, **fde);
    }
  }
  const Counts& counts() const { return counts_; }

private:
  /// False where the CFI has something that rows cannot represent (the PLT).
  bool read(const cfi::CfiSection& section, const cfi::Fde& fde) {
    rows_.clear();
    call_sites_.clear();
    cfi::MinimalRowCursor cursor(section, fde);
    for (cfi::MinimalRow row; cursor.next(row);) {
      const auto frame_row = cfi::to_frame_row(row, section.abi());
      if (!frame_row) return false;
      rows_.push_back(*frame_row);
    }
    if (!fde.lsda) return !rows_.empty();
    std::vector<cfi::LandingPad> pads;
    const auto bytes = image_.bytes_at(fde.lsda->value);
    if (!cfi::read_landing_pads(bytes, fde.lsda->value, fde.start, section.abi(), pads))
      ++counts_.tables_wrong;
    for (const auto& pad : pads) {
      EXPECT_LT(pad.begin, pad.end);
      call_sites_.push_back({pad.begin, pad.end, pad.landing_pad});
    }
    return !rows_.empty();
  }

  void compare(const cfi::CfiSection& section, const cfi::Fde& fde) {
    const auto bytes = image_.read(fde.start, fde.size);
    if (!bytes) return;
    if (!read(section, fde)) {
      ++counts_.unrepresentable;
      return;
    }
    const Results& results = analyzer_.run({.start = fde.start,
                                            .bytes = *bytes,
                                            .entry = rows_.front(),
                                            .call_sites = call_sites_,
                                            .rows = rows_,
                                            .environment = &environment_});
    bool contradicted = false, undecided = false;
    std::uint64_t last = 0;
    results.visit([&](const Reached& at) {
      EXPECT_GE(at.instruction.address, last);
      last = at.instruction.address;
      ++counts_.instructions;
      const auto offset = static_cast<std::uint32_t>(at.instruction.address - fde.start);
      const auto row = std::ranges::upper_bound(rows_, offset, {}, &FrameRow::offset) - 1;
      const Agreement found = check(*row, at.state(), section.abi()).worst();
      const Agreement first = check(rows_.front(), at.state(), section.abi()).worst();
      EXPECT_EQ(follower_.agrees(&*row, at), found == Agreement::agrees);
      EXPECT_EQ(follower_of_first_.agrees(&rows_.front(), at), first == Agreement::agrees);
      contradicted |= found == Agreement::contradicts && at.certainty == Certainty::certain;
      undecided |= found != Agreement::agrees;
    });
    ++counts_.functions;
    counts_.contradicted += contradicted;
    counts_.undecided += undecided && !contradicted;
  }

  const elf::Image& image_;
  code::ImageEnvironment environment_;
  Analyzer analyzer_;
  // Rows of one function have the addresses of another's. The first row is wrong in most of a function, and
  // right again after its epilogues.
  RowFollower follower_, follower_of_first_;
  std::vector<FrameRow> rows_;
  std::vector<CallSite> call_sites_;
  Counts counts_;
};

class CodeSystem : public testing::TestWithParam<const char*> {};

TEST_P(CodeSystem, AgreesWithCfi) {
  const auto file = elf::File::open(GetParam());
  if (!file) GTEST_SKIP() << "no " << GetParam();
  const auto image = elf::Image::parse(file->bytes());
  ASSERT_TRUE(image && image->abi());
  if (!make_decoder(*image->abi())) GTEST_SKIP() << "no decoder";
  const auto input = generate::CfiInput::from_image(*image);
  ASSERT_TRUE(input);
  Comparison comparison(*image);
  for (const cfi::CfiSection& section : input->sections) comparison.run(section);
  const Counts& counts = comparison.counts();
  EXPECT_GT(counts.functions, 10u);
  EXPECT_GT(counts.instructions, 10 * counts.functions);
  EXPECT_LE(counts.contradicted, 1 + counts.functions / 1000);
  EXPECT_LE(counts.undecided, 1 + counts.functions / 1000);
  EXPECT_EQ(counts.tables_wrong, 0u);
  RecordProperty("functions", static_cast<int>(counts.functions));
}

INSTANTIATE_TEST_SUITE_P(Programs, CodeSystem,
                         testing::Values("/usr/bin/bash", "/usr/bin/git", "/usr/bin/gdb", "/usr/bin/python3",
                                         "/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"));

} // namespace code_system_test
