// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows compared with AMD64 code, which is not executed. The right rows are by hand.

#include "sframe/jit/check.h"

#include <gtest/gtest.h>

#include <vector>

namespace jit_check_code_test {

using namespace sframe;

constexpr std::uint16_t fp = 6, sp = 7;
const Rule ra = Rule::at_cfa(-8);

jit::CheckResult check(const std::vector<std::uint8_t>& code, const std::vector<FrameRow>& rows,
                       std::optional<FrameRow> entry = {}) {
  const auto made = jit::Rows::make({.size = static_cast<std::uint32_t>(code.size())}, rows, {}, Abi::amd64);
  return jit::check(code.data(), made.value(), entry);
}

const std::vector<std::uint8_t> with_frame = {
    0x55,                   // 0  push %rbp
    0x48, 0x89, 0xe5,       // 1  mov  %rsp,%rbp
    0x48, 0x83, 0xec, 0x20, // 4  sub  $0x20,%rsp
    0x48, 0x89, 0x45, 0xf8, // 8  mov  %rax,-8(%rbp)
    0xc9,                   // 12 leave
    0xc3,                   // 13 ret
};
const std::vector<FrameRow> rows_of_frame = {{0, Rule::value(sp, 8), ra, {}, false},
                                             {1, Rule::value(sp, 16), ra, Rule::at_cfa(-16), false},
                                             {4, Rule::value(fp, 16), ra, Rule::at_cfa(-16), false},
                                             {13, Rule::value(sp, 8), ra, {}, false}};

TEST(JitCheck, RightRowsAgree) {
  EXPECT_EQ((jit::CheckResult{{}, 6, 0}), check(with_frame, rows_of_frame));
}

/// CPython's compiler described all of its code as if it had a frame, which none of it makes.
TEST(JitCheck, APrologueThatDoesNotExist) {
  const std::vector<std::uint8_t> code = {0x50,                   // push %rax
                                          0x4d, 0x8d, 0x65, 0x08, // lea  8(%r13),%r12
                                          0x58,                   // pop  %rax
                                          0xff, 0xe0};            // jmp  *%rax
  const FrameRow claimed = {0, Rule::value(fp, 16), ra, Rule::at_cfa(-16), false};
  const auto result = check(code, {claimed});
  ASSERT_EQ(1u, result.contradictions.size());
  EXPECT_EQ((jit::Contradiction{0, claimed, FrameRow{0, Rule::value(sp, 8), ra, {}, false}}),
            result.contradictions[0]);
  EXPECT_EQ(0u, result.agreed);
}

TEST(JitCheck, ARowTooLate) {
  auto rows = rows_of_frame;
  rows[1].offset = 4;
  rows[2].offset = 8;
  const auto result = check(with_frame, rows);
  ASSERT_EQ(1u, result.contradictions.size());
  EXPECT_EQ(1u, result.contradictions[0].offset);
  EXPECT_EQ(rows_of_frame[1].cfa, result.contradictions[0].right->cfa);
}

TEST(JitCheck, CodeThatIsEnteredWithAFrame) {
  const std::vector<std::uint8_t> code(with_frame.begin() + 8, with_frame.end());
  const std::vector<FrameRow> rows = {{0, Rule::value(fp, 16), ra, Rule::at_cfa(-16), false},
                                      {5, Rule::value(sp, 8), ra, {}, false}};
  EXPECT_FALSE(check(code, rows).contradictions.empty());
  EXPECT_EQ((jit::CheckResult{{}, 3, 0}), check(code, rows, rows[0]));
}

TEST(JitCheck, EachOfRepeatedBlocks) {
  const std::vector<std::uint8_t> code = {0x50, 0x58, 0xc3, 0x90,  // push, pop, ret
                                          0x50, 0x50, 0xc3, 0x90}; // push, push: not as the others
  const std::vector<FrameRow> rows = {{0, Rule::value(sp, 8), ra, {}, false},
                                      {1, Rule::value(sp, 16), ra, {}, false},
                                      {2, Rule::value(sp, 8), ra, {}, false}};
  const auto made =
      jit::Rows::make({.size = 8, .pc_type = PcType::mask, .rep_size = 4}, rows, {}, Abi::amd64);
  const auto result = jit::check(code.data(), made.value());
  ASSERT_EQ(1u, result.contradictions.size());
  EXPECT_EQ(6u, result.contradictions[0].offset);
  EXPECT_EQ(Rule::value(sp, 24), result.contradictions[0].right->cfa);
}

TEST(JitCheck, CodeOfWhichNothingIsKnown) {
  const std::vector<std::uint8_t> code = {0x48, 0x8b, 0x27, // mov (%rdi),%rsp
                                          0xc3};
  const auto result = check(code, {{0, Rule::value(sp, 8), ra, {}, false}});
  EXPECT_TRUE(result.contradictions.empty());
  EXPECT_EQ(1u, result.agreed);
  EXPECT_EQ(1u, result.undecided);
}

/// That there is no caller is nothing that code contradicts: code without rows is outermost throughout.
TEST(JitCheck, OutermostCodeIsUndecided) {
  const jit::CheckResult undecided = {{}, 0, 6};
  EXPECT_EQ(undecided, check(with_frame, {FrameRow::outermost(0)}));
  EXPECT_EQ(undecided, check(with_frame, {}));
}

TEST(JitAnalyse, RowsOfCode) {
  const auto rows = jit::analyse(std::as_bytes(std::span(with_frame)), 0x1000, {}, Abi::amd64);
  ASSERT_TRUE(rows);
  const auto result = check(with_frame, *rows);
  EXPECT_EQ((jit::CheckResult{{}, 6, 0}), result);
  ASSERT_GE(rows->size(), 4u);
  EXPECT_EQ(13u, rows->back().offset);
  EXPECT_EQ(Rule::value(sp, 8), rows->back().cfa);
}

TEST(JitAnalyse, NoRowsOfCodeThatIsNotFollowed) {
  const std::vector<std::uint8_t> lost = {0x48, 0x8b, 0x27, 0xc3}; // mov (%rdi),%rsp; ret
  EXPECT_FALSE(jit::analyse(std::as_bytes(std::span(lost)), 0x1000, {}, Abi::amd64));
  const std::vector<std::uint8_t> unreached = {0xc3, 0x50, 0x58, 0xc3}; // ret; push, pop, ret
  EXPECT_FALSE(jit::analyse(std::as_bytes(std::span(unreached)), 0x1000, {}, Abi::amd64));
}

} // namespace jit_check_code_test
