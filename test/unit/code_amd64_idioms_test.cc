// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of AMD64 idioms: how compilers and hand-written assembly use the stack. Each is a listing with
// the row before each instruction, derived by hand: the CFA, then FP. Empty: not reached.

#include "code_listing.h"

namespace code_amd64_idioms_test {

using namespace sframe;
using namespace sframe::code;
using namespace sframe::test;
using namespace sframe::test::listing;
using sframe::test::listing::amd64, sframe::test::listing::start;

TEST(CodeAmd64, FramePointer) {
  Listing listing(frame_pointer);
  listing.expect_rows();
  EXPECT_EQ(listing.exit_at(6), Exit::returns);
}

constexpr Line pushes_and_pops[] = {
    {"41 54", "push %r12", "sp+8 same"},
    {"55", "push %rbp", "sp+16 same"},
    {"53", "push %rbx", "sp+24 [cfa-24]"},
    {"48 89 fd", "mov %rdi,%rbp", "sp+32 [cfa-24]"},
    {"e8 f4 ff 00 00", "call far", "sp+32 [cfa-24]"},
    {"5b", "pop %rbx", "sp+32 [cfa-24]"},
    {"5d", "pop %rbp", "sp+24 [cfa-24]"},
    {"41 5c", "pop %r12", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, PushesAndPops) {
  Listing listing(pushes_and_pops);
  listing.expect_rows();
}

constexpr Line shrink_wrapped[] = {
    {"85 ff", "test %edi,%edi", "sp+8 same"},
    {"75 03", "jne 1f", "sp+8 same"},
    {"31 c0", "xor %eax,%eax", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
    {"55", "push %rbp", "sp+8 same"},
    {"89 f5", "mov %esi,%ebp", "sp+16 [cfa-16]"},
    {"e8 f1 ff 00 00", "call far", "sp+16 [cfa-16]"},
    {"5d", "pop %rbp", "sp+16 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, ShrinkWrapped) {
  Listing listing(shrink_wrapped);
  listing.expect_rows();
}

constexpr Line tail_calls[] = {
    {"48 83 ec 08", "sub $8,%rsp", "sp+8 same"},
    {"48 85 ff", "test %rdi,%rdi", "sp+16 same"},
    {"74 09", "je 1f", "sp+16 same"},
    {"48 83 c4 08", "add $8,%rsp", "sp+16 same"},
    {"e9 ee ff 00 00", "jmp far", "sp+8 same"},
    {"e8 e9 ff 00 00", "call far", "sp+16 same"},
    {"48 8b 00", "mov (%rax),%rax", "sp+16 same"},
    {"48 83 c4 08", "add $8,%rsp", "sp+16 same"},
    {"ff e0", "jmp *%rax", "sp+8 same"},
};

TEST(CodeAmd64, TailCalls) {
  Listing listing(tail_calls);
  listing.expect_rows();
  EXPECT_EQ(listing.exit_at(4), Exit::tail_call);
  EXPECT_EQ(listing.exit_at(8), Exit::indirect_tail_call);
  EXPECT_FALSE(listing.has(Obstacle::Kind::indirect_jump));
}

/// alloca: SP is restored from a register.
constexpr Line variable_size[] = {
    {"55", "push %rbp", "sp+8 same"},
    {"48 89 e5", "mov %rsp,%rbp", "sp+16 [cfa-16]"},
    {"53", "push %rbx", "sp+16 [cfa-16]"},
    {"48 89 e3", "mov %rsp,%rbx", "sp+24 [cfa-16]"},
    {"48 29 fc", "sub %rdi,%rsp", "sp+24 [cfa-16]"},
    {"48 83 e4 f0", "and $-16,%rsp", "fp+16 [cfa-16]"},
    {"48 89 e7", "mov %rsp,%rdi", "fp+16 [cfa-16]"},
    {"e8 e9 ff 00 00", "call far", "fp+16 [cfa-16]"},
    {"48 89 dc", "mov %rbx,%rsp", "fp+16 [cfa-16]"},
    {"5b", "pop %rbx", "sp+24 [cfa-16]"},
    {"5d", "pop %rbp", "sp+16 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, VariableSize) {
  Listing listing(variable_size);
  listing.expect_rows();
  EXPECT_FALSE(listing.has(Obstacle::Kind::sp_lost));
}

constexpr Line restored_by_lea[] = {
    {"55", "push %rbp", "sp+8 same"},
    {"48 89 e5", "mov %rsp,%rbp", "sp+16 [cfa-16]"},
    {"53", "push %rbx", "sp+16 [cfa-16]"},
    {"48 83 e4 e0", "and $-32,%rsp", "sp+24 [cfa-16]"},
    {"48 83 ec 40", "sub $64,%rsp", "fp+16 [cfa-16]"},
    {"48 8d 65 f8", "lea -8(%rbp),%rsp", "fp+16 [cfa-16]"},
    {"5b", "pop %rbx", "sp+24 [cfa-16]"},
    {"5d", "pop %rbp", "sp+16 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, RestoredByLea) {
  Listing listing(restored_by_lea);
  listing.expect_rows();
}

/// The dynamic realignment argument pointer of gcc: the CFA is in r10, then in a word below FP.
constexpr Line realigned[] = {
    {"4c 8d 54 24 08", "lea 8(%rsp),%r10", "sp+8 same"},
    {"48 83 e4 e0", "and $-32,%rsp", "sp+8 same"},
    {"41 ff 72 f8", "push -8(%r10)", "r10+0 same"},
    {"55", "push %rbp", "r10+0 same"},
    {"48 89 e5", "mov %rsp,%rbp", "r10+0 same"},
    {"41 52", "push %r10", "r10+0 [fp+0]"},
    {"48 83 ec 28", "sub $40,%rsp", "[fp-8] [fp+0]"},
    {"e8 e4 ff 00 00", "call far", "[fp-8] [fp+0]"},
    {"48 83 c4 28", "add $40,%rsp", "[fp-8] [fp+0]"},
    {"41 5a", "pop %r10", "[fp-8] [fp+0]"},
    {"5d", "pop %rbp", "r10+0 [fp+0]"},
    {"49 8d 62 f8", "lea -8(%r10),%rsp", "r10+0 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, Realigned) {
  Listing listing(realigned);
  listing.expect_rows();
}

/// SP has no single value in the loop; after it, SP is where r11 points.
constexpr Line probing[] = {
    {"4c 8d 9c 24 00 d0 ff ff", "lea -0x3000(%rsp),%r11", "sp+8 same"},
    {"48 81 ec 00 10 00 00", "sub $0x1000,%rsp", "r11+12296 same"},
    {"48 83 0c 24 00", "orq $0,(%rsp)", "r11+12296 same"},
    {"4c 39 dc", "cmp %r11,%rsp", "r11+12296 same"},
    {"75 ef", "jne 1b", "r11+12296 same"},
    {"48 83 ec 08", "sub $8,%rsp", "sp+12296 same"},
    {"48 81 c4 08 30 00 00", "add $0x3008,%rsp", "sp+12304 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, Probing) {
  Listing listing(probing);
  listing.expect_rows();
}

/// A call to the next instruction, for its address.
constexpr Line call_pop[] = {
    {"53", "push %rbx", "sp+8 same"}, {"e8 00 00 00 00", "call 1f", "sp+16 same"},
    {"5b", "pop %rbx", "sp+24 same"}, {"48 83 c3 64", "add $100,%rbx", "sp+16 same"},
    {"5b", "pop %rbx", "sp+16 same"}, {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, CallPop) {
  Listing listing(call_pop);
  listing.expect_rows();
  EXPECT_TRUE(listing.run().obstacles().empty());
}

/// The call puts a return address on the stack that is overwritten with the target.
constexpr Line retpoline[] = {
    {"e8 07 00 00 00", "call 1f", "sp+8 same"},
    {"f3 90", "pause", "sp+8 same"},
    {"0f ae e8", "lfence", "sp+8 same"},
    {"eb f9", "jmp 2b", "sp+8 same"},
    {"48 89 04 24", "mov %rax,(%rsp)", "sp+16 same"},
    {"c3", "ret", "sp+16 same"},
};

TEST(CodeAmd64, Retpoline) {
  Listing listing(retpoline);
  listing.expect_rows();
  EXPECT_EQ(listing.exit_at(5), Exit::indirect_tail_call);
}

constexpr Line varargs[] = {
    {"48 81 ec d8 00 00 00", "sub $0xd8,%rsp", "sp+8 same"},
    {"48 89 74 24 28", "mov %rsi,0x28(%rsp)", "sp+224 same"},
    {"84 c0", "test %al,%al", "sp+224 same"},
    {"74 0d", "je 1f", "sp+224 same"},
    {"0f 29 44 24 50", "movaps %xmm0,0x50(%rsp)", "sp+224 same"},
    {"0f 29 bc 24 c0 00 00 00", "movaps %xmm7,0xc0(%rsp)", "sp+224 same"},
    {"48 8d 44 24 20", "lea 0x20(%rsp),%rax", "sp+224 same"},
    {"e8 d9 ff 00 00", "call far", "sp+224 same"},
    {"48 81 c4 d8 00 00 00", "add $0xd8,%rsp", "sp+224 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, Varargs) {
  Listing listing(varargs);
  listing.expect_rows();
}

/// FP saved below SP, in a function that calls nothing.
constexpr Line red_zone[] = {
    {"48 89 6c 24 f8", "mov %rbp,-8(%rsp)", "sp+8 same"},
    {"48 89 fd", "mov %rdi,%rbp", "sp+8 same"},
    {"48 8b 6c 24 f8", "mov -8(%rsp),%rbp", "sp+8 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, RedZone) {
  Listing listing(red_zone);
  listing.expect_rows();
}

constexpr Line loop_with_calls[] = {
    {"53", "push %rbx", "sp+8 same"},         {"bb 0a 00 00 00", "mov $10,%ebx", "sp+16 same"},
    {"89 df", "mov %ebx,%edi", "sp+16 same"}, {"e8 f3 ff 00 00", "call far", "sp+16 same"},
    {"ff cb", "dec %ebx", "sp+16 same"},      {"75 f5", "jne 1b", "sp+16 same"},
    {"5b", "pop %rbx", "sp+16 same"},         {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, LoopWithCalls) {
  Listing listing(loop_with_calls);
  listing.expect_rows();
}

constexpr Line enter_frame[] = {
    {"c8 10 00 00", "enter $16,$0", "sp+8 same"},
    {"48 89 7d f8", "mov %rdi,-8(%rbp)", "sp+32 [cfa-16]"},
    {"c9", "leave", "sp+32 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, EnterFrame) {
  Listing listing(enter_frame);
  listing.expect_rows();
}

/// In the last line FP is in rax; its word is still in the red zone, which is as good.
constexpr Line exchange[] = {
    {"55", "push %rbp", "sp+8 same"},
    {"48 89 fd", "mov %rdi,%rbp", "sp+16 [cfa-16]"},
    {"48 95", "xchg %rbp,%rax", "sp+16 [cfa-16]"},
    {"5d", "pop %rbp", "sp+16 [cfa-16]"},
    {"48 95", "xchg %rbp,%rax", "sp+8 same"},
    {"48 95", "xchg %rbp,%rax", "sp+8 r0"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, Exchange) {
  Listing listing(exchange);
  listing.expect_rows();
}

TEST(CodeAmd64, JumpTable) {
  Listing listing(jump_table);
  World world;
  for (std::uint32_t i = 0; i < 3; ++i) {
    // Cases 0 and 2 share their code. What comes after the table is no entry.
    const std::uint64_t target = listing.address(i == 1 ? 11 : 8);
    world.words[table + 4 * i] = static_cast<std::uint32_t>(target - table);
  }
  world.words[table + 12] = static_cast<std::uint32_t>(listing.address(8) + 1 - table);
  listing.function().environment = &world;
  listing.expect_rows();
  EXPECT_EQ(listing.certainty_at(11), Certainty::certain);
  EXPECT_TRUE(listing.run().obstacles().empty());
  EXPECT_TRUE(listing.run().gaps().empty());
}

constexpr Line absolute_table[] = {
    {"48 83 ff 01", "cmp $1,%rdi", "sp+8 same"},
    {"76 01", "jbe 1f", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
    {"ff 24 fd 00 30 00 00", "jmp *0x3000(,%rdi,8)", "sp+8 same"},
    {"b8 01 00 00 00", "mov $1,%eax", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
    {"50", "push %rax", "sp+8 same"},
    {"59", "pop %rcx", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, AbsoluteTable) {
  Listing listing(absolute_table);
  World world;
  world.pointers = {{0x3000, listing.address(4)}, {0x3008, listing.address(6)}};
  listing.function().environment = &world;
  listing.expect_rows();
  EXPECT_EQ(listing.certainty_at(6), Certainty::certain);
  EXPECT_TRUE(listing.run().gaps().empty());
}

/// The row after the call does not fit: the call does not return.
constexpr Line no_return[] = {
    {"48 83 ec 08", "sub $8,%rsp", "sp+8 same"},
    {"85 ff", "test %edi,%edi", "sp+16 same"},
    {"75 05", "jne 1f", "sp+16 same"},
    {"48 83 c4 08", "add $8,%rsp", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
    {"e8 ee ff 00 00", "call far", "sp+16 same"},
    {"0f 1f 00", "nopl (%rax)", ""},
    {"b8 01 00 00 00", "mov $1,%eax", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, NoReturn) {
  Listing listing(no_return);
  const FrameRow rows[] = {row(0, 8), row(4, 16), row(12, 8), row(13, 16), row(21, 8)};
  listing.function().rows = rows;
  listing.expect_rows();
  EXPECT_TRUE(listing.has(Obstacle::Kind::call_falls_through));
  EXPECT_EQ(listing.certainty_at(7), Certainty::assumed);
}

/// SP after the call is not what it is on the other path: the call does not return.
constexpr Line no_return_joins[] = {
    {"85 ff", "test %edi,%edi", "sp+8 same"},
    {"75 04", "jne 1f", "sp+8 same"},
    {"85 f6", "test %esi,%esi", "sp+8 same"},
    {"75 06", "jne 2f", "sp+8 same"},
    {"50", "push %rax", "sp+8 same"},
    {"e8 f2 ff 00 00", "call far", "sp+16 same"},
    {"b8 01 00 00 00", "mov $1,%eax", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
};

TEST(CodeAmd64, NoReturnJoins) {
  Listing listing(no_return_joins);
  listing.expect_rows();
  EXPECT_TRUE(listing.has(Obstacle::Kind::call_falls_through));
  EXPECT_TRUE(listing.run().conflicts().empty());
}

/// Arguments that were pushed for a call are gone where its exception lands.
constexpr Line landing_pad[] = {
    {"53", "push %rbx", "sp+8 same"},
    {"6a 01", "push $1", "sp+16 same"},
    {"6a 02", "push $2", "sp+24 same"},
    {"e8 f6 ff 00 00", "call far", "sp+32 same"},
    {"48 83 c4 10", "add $16,%rsp", "sp+32 same"},
    {"e8 ed ff 00 00", "call far", "sp+16 same"},
    {"5b", "pop %rbx", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
    {"48 89 c3", "mov %rax,%rbx", "sp+16 same"},
    {"e8 e3 ff 00 00", "call far", "sp+16 same"},
    {"0f 0b", "ud2", "sp+16 same"},
};

TEST(CodeAmd64, LandingPad) {
  Listing listing(landing_pad);
  const CallSite sites[] = {{listing.address(3), listing.address(4), listing.address(8)},
                            {listing.address(5), listing.address(6), listing.address(8)}};
  listing.function().call_sites = sites;
  listing.expect_rows();
}

} // namespace code_amd64_idioms_test
