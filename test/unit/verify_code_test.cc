// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report shows of code that contradicts its rows: functions of a few instructions, encoded by hand
// (Intel's manual, volume 2), whose stack pointer is worked out by hand, too.

#include "elf_builder.h"
#include "inputs.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/against_code.h>

#include <cstdio>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sframe::test {
namespace verify_code_test {

using namespace verify;

struct Findings final : Sink {
  void add(Finding finding) override { all.push_back(std::move(finding)); }
  std::vector<Finding> all;
};

constexpr std::uint64_t text_at = 0x1000, sframe_at = 0x2000;

/// A row: its offset in the function, and the CFA's distance from SP, or from RBP.
FrameRow row(std::uint32_t offset, std::int32_t from_sp) {
  FrameRow made = traits(Abi::amd64).entry_row();
  made.offset = offset;
  made.cfa.offset = from_sp;
  return made;
}

/// Findings and verdicts for one function, which is all of .text.
struct Checked {
  std::vector<Finding> findings;
  Summary summary;
};

Checked check(const std::string& code, const std::vector<FrameRow>& rows) {
  const auto text = hex(code);
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(builder.add({.start = text_at, .size = static_cast<std::uint32_t>(text.size())}, rows));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  TestElf file;
  file.type = elf::et_dyn;
  file.sections = {{".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
                   {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, *section}};
  file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, text_at, text}};
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  EXPECT_TRUE(has_code(*input));
  Verdicts verdicts(*input);
  Findings found;
  Workers alone;
  check_against_code(*input, alone, verdicts, found);
  return {found.all, verdicts.summary()};
}

/// Rows as of `sub $n, %rsp; nop; add $n, %rsp; ret`, one of which is as given.
Checked check_frame(int size, std::int32_t in_frame) {
  char immediate[3];
  std::snprintf(immediate, sizeof immediate, "%02x", static_cast<unsigned>(size));
  const std::string n = immediate;
  return check("48 83 ec " + n + " 90 48 83 c4 " + n + " c3", {row(0, 8), row(4, in_frame), row(9, 8)});
}

TEST(VerifyCode, RightRowsAreSilent) {
  const Checked checked = check_frame(24, 32);
  EXPECT_TRUE(checked.findings.empty());
  EXPECT_EQ(checked.summary.agree, 1u);
}

// SP is CFA-32 there: what the rule yields is as far from the CFA as the offset is wrong.
TEST(VerifyCode, DistancesFromTheCfa) {
  for (const auto& [offset, yields] :
       {std::pair{31, "CFA-1"}, {33, "CFA+1"}, {8, "CFA-24"}, {40, "CFA+8"}, {30, "CFA-2"}}) {
    const Checked checked = check_frame(24, offset);
    ASSERT_EQ(checked.findings.size(), 1u) << yields;
    const Finding& finding = checked.findings[0];
    EXPECT_EQ(finding.id, Id::K201);
    EXPECT_EQ(finding.message, "the CFA rule sp+" + std::to_string(offset) + " yields " + yields);
    EXPECT_EQ(finding.at->pc, text_at + 4);
    EXPECT_EQ(finding.end, text_at + 9);
    EXPECT_EQ(finding.sframe, "cfa=sp+" + std::to_string(offset) + " ra=[cfa-8] fp=same");
    EXPECT_EQ(finding.code, "cfa=sp+32 ra=[cfa-8] fp=same");
    EXPECT_FALSE(finding.compiler);
    EXPECT_EQ(checked.summary.contradiction, 1u);
    EXPECT_EQ(checked.summary.contradiction_in_cfi, 0u);
  }
}

/// Identifiers and addresses of the findings: "K301 0x1000".
std::vector<std::string> places(const Checked& checked) {
  std::vector<std::string> all;
  for (const Finding& finding : checked.findings)
    all.push_back(std::string(verify::check(finding.id).name) + ' ' + sframe::hex(finding.at->pc));
  return all;
}

// What ends the analysis is one note each, and leaves the function undecided only where rows are not
// compared.
TEST(VerifyCode, Obstacles) {
  using Places = std::vector<std::string>;
  const std::vector<FrameRow> entry = {row(0, 8)};
  EXPECT_EQ(places(check("90 c3", entry)), Places{});
  EXPECT_EQ(places(check("50 ff e0", {row(0, 8), row(1, 16)})), Places{"K301 0x1001"}); // push; jmp *%rax
  EXPECT_EQ(places(check("90 06", entry)), Places{"K304 0x1001"});                      // not in 64-bit mode
  EXPECT_EQ(places(check("48 89 c4 90 0f 0b", entry))[0], "K303 0x1000");               // mov %rax, %rsp; ud2
  const Checked unreached = check("90 c3 90 90", entry);
  EXPECT_EQ(places(unreached), Places{});
  const Checked wrong = check("90 c3", {row(0, 16)});
  EXPECT_FALSE(wrong.findings.empty());
  EXPECT_EQ(places(wrong).back(), "K305 0x1000");
}

// longjmp() and its like: SP and FP are loaded, and the jump goes where nobody knows. Rows that do not fit
// are of what is jumped to: nothing can be decided, and nobody has made a mistake.
TEST(VerifyCode, JumpsToAnotherStack) {
  FrameRow in_r8 = row(5, 0);
  in_r8.cfa.base = 8;
  // lea 8(%rsp), %r8; mov 0x28(%rdi), %rbp; mov 0x30(%rdi), %rsp; jmp *0x38(%rdi)
  const Checked checked = check("4c 8d 44 24 08 48 8b 6f 28 48 8b 67 30 ff 67 38", {row(0, 8), in_r8});
  ASSERT_EQ(places(checked), (std::vector<std::string>{"K303 0x1009", "K301 0x100d", "K303 0x1009"}));
  EXPECT_EQ(checked.findings[0].message, "the function switches to another stack");
  EXPECT_FALSE(checked.findings[0].compiler);
  EXPECT_EQ(checked.summary.undecided, 1u);
  EXPECT_EQ(checked.summary.contradiction, 0u);
}

/// A part of a function, where RBX may hold an address of the frame: it is not known that R8 is wrong.
TEST(VerifyCode, PartWithAFrameAddress) {
  FrameRow first = row(0, 16), second = row(4, 32);
  first.cfa.base = second.cfa.base = 8;
  // lea 0x10(%rbx), %r8; nop; jmp .
  const Checked checked = check("4c 8d 43 10 90 eb fe", {first, second});
  EXPECT_EQ(checked.summary.undecided, 1u);
  EXPECT_EQ(checked.summary.contradiction, 0u);
}

} // namespace verify_code_test
} // namespace sframe::test
