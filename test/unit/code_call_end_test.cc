// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that ends with a call, and padding. Encodings are from llvm-mc.

#include "sframe/code/call_end.h"

#include "inputs.h"
#include "sframe/base/budget.h"

#include <gtest/gtest.h>
#include <vector>

namespace code_call_end_test {

using namespace sframe;
using code::CallEnds;
using test::hex;

constexpr std::uint64_t start = 0x1000;

TEST(CodeCallEnds, LastInstruction) {
  CallEnds amd64(traits(Abi::amd64));
  const auto ends = [&](const char* bytes) { return amd64.ends_with_call(hex(bytes), start, nullptr); };
  EXPECT_TRUE(ends("e8 00 01 00 00"));           // call
  EXPECT_TRUE(ends("ff d0"));                    // call *%rax
  EXPECT_TRUE(ends("48 89 c7 e8 00 01 00 00"));  // mov %rax, %rdi; call
  EXPECT_FALSE(ends("e8 00 01 00 00 90"));       // call; nop
  EXPECT_FALSE(ends("e9 00 01 00 00"));          // jmp
  EXPECT_FALSE(ends("c3"));                      // ret
  EXPECT_FALSE(ends("06 e8 00 01 00 00"));       // no instruction; call
  EXPECT_FALSE(ends("e8 00 01 00"));             // cut off
  EXPECT_FALSE(ends("e8 00 01 00 00 e8 00 01")); // a call, and one that is cut off
  EXPECT_FALSE(ends(""));
  CallEnds arm(traits(Abi::aarch64_little));
  EXPECT_TRUE(arm.ends_with_call(hex("1f 20 03 d5 04 00 00 94"), start, nullptr));  // nop; bl
  EXPECT_FALSE(arm.ends_with_call(hex("04 00 00 94 1f 20 03 d5"), start, nullptr)); // bl; nop
  CallEnds s390x(traits(Abi::s390x));
  EXPECT_TRUE(s390x.ends_with_call(hex("c0 e5 00 00 00 08"), start, nullptr)); // brasl %r14
  EXPECT_TRUE(s390x.ends_with_call(hex("0d e1"), start, nullptr));             // basr %r14, %r1
}

/// What compilers fill with: no-operations of any length, traps, zeros of an instruction's size.
TEST(CodeCallEnds, Padding) {
  CallEnds amd64(traits(Abi::amd64));
  const auto padding = [&](const char* bytes) { return amd64.padding(hex(bytes), start); };
  EXPECT_EQ(padding("90 c3"), 1u);
  EXPECT_EQ(padding("66 0f 1f 44 00 00 c3"), 6u); // nopw
  EXPECT_EQ(padding("cc c3"), 1u);                // int3
  EXPECT_EQ(padding("c3 90"), 0u);
  EXPECT_EQ(padding("00 00 c3"), 1u);
  EXPECT_EQ(padding("00"), 1u);
  EXPECT_EQ(padding("00 01"), 0u); // add %al, (%rcx)
  EXPECT_EQ(amd64.padding(hex("00 55 48"), start + 14), 0u);
  EXPECT_EQ(amd64.padding(hex("00 55 48"), start + 15), 1u); // push %rbp at 0x1010
  EXPECT_EQ(padding(""), 0u);
  CallEnds arm(traits(Abi::aarch64_little));
  EXPECT_EQ(arm.padding(hex("1f 20 03 d5"), start), 4u);
  EXPECT_EQ(arm.padding(hex("00 00 00 00 c0 03 5f d6"), start), 4u);
  EXPECT_EQ(arm.padding(hex("00 00 00 01"), start), 0u);
  EXPECT_EQ(arm.padding(hex("00 00 00"), start), 0u); // less than an instruction
  CallEnds s390x(traits(Abi::s390x));
  EXPECT_EQ(s390x.padding(hex("07 07"), start), 2u); // bcr 0, %r7
  EXPECT_EQ(s390x.padding(hex("00 00"), start), 2u);
  EXPECT_EQ(s390x.padding(hex("00"), start), 0u);
}

TEST(CodeCallEnds, OnlyPadding) {
  CallEnds amd64(traits(Abi::amd64));
  const auto is = [&](const char* bytes) { return amd64.is_padding(hex(bytes), start, nullptr); };
  EXPECT_TRUE(is("90 66 0f 1f 44 00 00 cc 00 00 00"));
  EXPECT_FALSE(is("90 66 0f 1f 44 00 00 c3"));
  EXPECT_FALSE(is("c3 90"));
  EXPECT_FALSE(is(""));
}

/// A step for each call and for every four bytes; nothing is found once they are used up.
TEST(CodeCallEnds, Budget) {
  CallEnds amd64(traits(Abi::amd64));
  const std::vector<std::byte> nops(4000, std::byte{0x90});
  auto calls = nops;
  const auto call = hex("e8 00 01 00 00");
  calls.insert(calls.end(), call.begin(), call.end());
  Budget budget(Limits::standard, 0);
  EXPECT_TRUE(amd64.is_padding(nops, start, &budget));
  EXPECT_TRUE(amd64.ends_with_call(calls, start, &budget));
  const std::uint64_t left = budget.left(Resource::code_steps);
  EXPECT_TRUE(amd64.is_padding(nops, start, &budget));
  EXPECT_EQ(left - budget.left(Resource::code_steps), 1001u);
  EXPECT_TRUE(budget.take(Resource::code_steps, budget.left(Resource::code_steps)));
  EXPECT_FALSE(amd64.is_padding(nops, start, &budget));
  EXPECT_FALSE(amd64.ends_with_call(calls, start, &budget));
}

} // namespace code_call_end_test
