// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AMD64 decoder: instructions newer than Debian 12's Zydis, and missing operands. Encodings and texts are
// from llvm-mc.

#include "code_decoder_cases.h"

#include <array>
#include <vector>

namespace code_amd64_decoder_test {

using namespace sframe;

struct Newer {
  const char* assembly;
  const char* bytes;
};

/// They write vector registers, or a segment's base.
constexpr Newer newer[] = {
    {"vpmadd52luq (%rsi), %ymm1, %ymm3", "c4 e2 f5 b4 1e"},
    {"vpmadd52huq 32(%rsi), %ymm1, %ymm0", "c4 e2 f5 b5 46 20"},
    {"vpmadd52luq 144(%rsi), %ymm1, %ymm0", "c4 e2 f5 b4 86 90 00 00 00"},
    {"vpmadd52luq 256(%rip), %ymm1, %ymm0", "c4 e2 f5 b4 05 00 01 00 00"},
    {"vpmadd52luq 128(%rsp), %ymm1, %ymm0", "c4 e2 f5 b4 84 24 80 00 00 00"},
    {"vpmadd52luq (%esi), %ymm1, %ymm3", "67 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %es:(%rsi), %ymm1, %ymm3", "26 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %cs:(%rsi), %ymm1, %ymm3", "2e c4 e2 f5 b4 1e"},
    {"vpmadd52luq %ss:(%rsi), %ymm1, %ymm3", "36 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %ds:(%rbp), %ymm1, %ymm3", "3e c4 e2 f5 b4 5d 00"},
    {"vpmadd52luq %fs:(%rsi), %ymm1, %ymm3", "64 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %gs:(%rsi), %ymm1, %ymm3", "65 c4 e2 f5 b4 1e"},
    {"vpmadd52luq 64(,%rsi,2), %ymm1, %ymm3", "c4 e2 f5 b4 1c 75 40 00 00 00"},
    {"vpmadd52luq 4(%rsp), %ymm1, %ymm3", "c4 e2 f5 b4 5c 24 04"},
    {"vsm3rnds2 $5, (%rdi), %xmm2, %xmm1", "c4 e3 69 de 0f 05"},
    {"vsha512msg2 %ymm2, %ymm1", "c4 e2 7f cd ca"},
    {"vsha512rnds2 %xmm1, %ymm2, %ymm0", "c4 e2 6f cb c1"},
    {"vsha512msg1 %xmm2, %ymm1", "c4 e2 7f cc ca"},
    {"vsm3msg1 %xmm2, %xmm1, %xmm0", "c4 e2 70 da c2"},
    {"vsm3msg2 %xmm2, %xmm1, %xmm0", "c4 e2 71 da c2"},
    {"vsm4key4 %xmm2, %xmm1, %xmm0", "c4 e2 72 da c2"},
    {"vsm4rnds4 %ymm2, %ymm1, %ymm0", "c4 e2 77 da c2"},
    {"vpdpbuud %xmm2, %xmm1, %xmm0", "c4 e2 70 50 c2"},
    {"vpdpbssd %xmm2, %xmm1, %xmm0", "c4 e2 73 50 c2"},
    {"vpdpwusd %xmm2, %xmm1, %xmm0", "c4 e2 71 d2 c2"},
    {"vpdpbsud %xmm2, %xmm1, %xmm0", "c4 e2 72 50 c2"},
    {"vpdpbuuds %xmm2, %xmm1, %xmm0", "c4 e2 70 51 c2"},
    {"vpdpbssds %xmm2, %xmm1, %xmm0", "c4 e2 73 51 c2"},
    {"vpdpbsuds %xmm2, %xmm1, %xmm0", "c4 e2 72 51 c2"},
    {"vpdpwsud %xmm2, %xmm1, %xmm0", "c4 e2 72 d2 c2"},
    {"vpdpwuud %xmm2, %xmm1, %xmm0", "c4 e2 70 d2 c2"},
    {"vpdpwusds %xmm2, %xmm1, %xmm0", "c4 e2 71 d3 c2"},
    {"vpdpwsuds %xmm2, %xmm1, %xmm0", "c4 e2 72 d3 c2"},
    {"vpdpwuuds %xmm2, %xmm1, %xmm0", "c4 e2 70 d3 c2"},
    {"vcvtneps2bf16x (%rdi), %xmm0", "c4 e2 7a 72 07"},
    {"vcvtneebf162ps (%rdi), %xmm0", "c4 e2 7a b0 07"},
    {"vcvtneoph2ps (%rdi), %xmm0", "c4 e2 78 b0 07"},
    {"vcvtneeph2ps (%rdi), %xmm0", "c4 e2 79 b0 07"},
    {"vcvtneobf162ps (%rdi), %xmm0", "c4 e2 7b b0 07"},
    {"vbcstnebf162ps (%rdi), %xmm0", "c4 e2 7a b1 07"},
    {"vbcstnesh2ps (%rdi), %xmm0", "c4 e2 79 b1 07"},
    {"lkgs %ax", "f2 0f 00 f0"},
    {"lkgs %r11w", "f2 41 0f 00 f3"},
    {"lkgs (%rdi)", "f2 0f 00 37"},
    {"lkgs 8(%rdi)", "f2 0f 00 77 08"},
};

/// Derived by hand from the manual's description of each instruction (Intel SDM, volume 2). Instructions are
/// at 0x1000; r16 is the pseudo register of the analysis, r255 none.
constexpr test::DecoderCase cases[] = {
    {"pushq %rbp", "55", "[r7 - 8] := r6; r7 += -8"},
    {"pushq $4", "6a 04", "[r7 - 8].8 := ?; r7 += -8"},
    {"pushw %ax", "66 50", "[r7 - 2].2 := ?; r7 += -2"},
    {"pushq 8(%rax)", "ff 70 08", "[r7 - 8].8 := ?; r7 += -8"},
    {"pushfq", "9c", "[r7 - 8].8 := ?; r7 += -8"},
    {"popfq", "9d", "r7 += 8"},
    {"popfw", "66 9d", "r7 += 2"},
    {"pushfw", "66 9c", "[r7 - 2].2 := ?; r7 += -2"},
    {"popq %rbx", "5b", "r3 := [r7]; r7 += 8"},
    {"popq %rsp", "5c", "r7 := [r7]"},
    {"popw %ax", "66 58", "r0 := ?; r7 += 2"},
    {"popq 8(%rsp)", "8f 44 24 08", "r7 += 8; [r7 + 8].8 := ?"},
    {"leave", "c9", "r7 := r6; r6 := [r7]; r7 += 8"},
    {"enter $32, $0", "c8 20 00 00", "[r7 - 8] := r6; r7 += -8; r6 := r7; r7 += -32"},
    {"movq %rsp, %rbp", "48 89 e5", "r6 := r7"},
    {"movl %esi, %eax", "89 f0", "r0 := (r4).4"},
    {"movq $-5, %rax", "48 c7 c0 fb ff ff ff", "r0 := -5"},
    {"movl $-5, %eax", "b8 fb ff ff ff", "r0 := 4294967291"},
    {"movq 8(%rbp), %rbx", "48 8b 5d 08", "r3 := [r6 + 8]"},
    {"movl 8(%rbp), %ebx", "8b 5d 08", "r3 := ?"},
    {"movq %rbx, -8(%rbp)", "48 89 5d f8", "[r6 - 8] := r3"},
    {"movl %ebx, -8(%rbp)", "89 5d f8", "[r6 - 8].4 := ?"},
    {"movb $1, -8(%rbp)", "c6 45 f8 01", "[r6 - 8].1 := ?"},
    {"movw %bx, %ax", "66 89 d8", "r0 := ?"},
    {"movb %bl, %ah", "88 dc", "r0 := ?"},
    {"movq %rbx, -8(%rbp,%rcx,8)", "48 89 5c cd f8", ""},
    {"movq (%rax,%rcx,8), %rdx", "48 8b 14 c8", "r1 := [r0 + r2*8].8"},
    {"movq %fs:40, %rax", "64 48 8b 04 25 28 00 00 00", "r0 := ?"},
    {"movzbl (%rdi), %eax", "0f b6 07", "r0 := ?; r0 := (r0).1"},
    {"movzbl 3(%rdi,%rcx), %eax", "0f b6 44 0f 03", "r0 := [r5 + r2*1 + 3].1"},
    {"movswl (%rdi,%rcx,2), %eax", "0f bf 04 4f", "r0 := [r5 + r2*2].2s"},
    {"movslq (%rdi,%rcx,4), %rax", "48 63 04 8f", "r0 := [r5 + r2*4].4s"},
    {"movzbl %cl, %eax", "0f b6 c1", "r0 := (r2).1"},
    {"movsbl %cl, %eax", "0f be c1", "r0 := (r2).1s"},
    {"movzbl %ch, %eax", "0f b6 c5", "r0 := ?"},
    {"movslq %ecx, %rax", "48 63 c1", "r0 := (r2).4s"},
    {"cltq", "48 98", "r0 := (r0).4s"},
    {"leaq 8(%rsp), %r10", "4c 8d 54 24 08", "r10 := r7 + 8"},
    {"leaq 16(%rip), %rax", "48 8d 05 10 00 00 00", "r0 := 4119"},
    {"leaq (%rax,%rcx,4), %rdx", "48 8d 14 88", "r1 := r0; r1 += r2 * 4"},
    {"leaq 4(%rax,%rcx,4), %rcx", "48 8d 4c 88 04", "r2 += r2 * 3; r2 += r0 * 1; r2 += 4"},
    {"leaq (%rcx,%rcx,2), %rcx", "48 8d 0c 49", "r2 += r2 * 2"},
    {"leaq (,%rcx,8), %rcx", "48 8d 0c cd 00 00 00 00", "r2 += r2 * 7"},
    {"leal 8(%rsp), %eax", "8d 44 24 08", "r0 := ?"},
    {"xchgq %rax, %rbp", "48 95", "r16 := r6; r6 := r0; r0 := r16"},
    {"xchgl %eax, %ebp", "95", "r6 := ?; r0 := ?"},
    {"addq $8, %rsp", "48 83 c4 08", "r7 += 8"},
    {"subq $8, %rsp", "48 83 ec 08", "r7 += -8"},
    {"addq %rcx, %rax", "48 01 c8", "r0 += r2 * 1"},
    {"subq %rcx, %rsp", "48 29 cc", "r7 += r2 * -1"},
    {"addl $8, %eax", "83 c0 08", "r0 := ?"},
    {"addq 8(%rbp), %rax", "48 03 45 08", "r0 := ?"},
    {"lock addl $0, (%rsp)", "f0 83 04 24 00", ""},
    {"orl $0, (%rsp)", "83 0c 24 00", ""},
    {"orq %rax, %rsp", "48 09 c4", ""},
    {"orq %rax, %rbx", "48 09 c3", "r3 := ?"},
    {"btsq $60, %rbp", "48 0f ba ed 3c", "sign r6 A"},
    {"btrq $60, %rbp", "48 0f ba f5 3c", "authenticate r6 A"},
    {"btsq $59, %rbp", "48 0f ba ed 3b", "r6 := ?"},
    {"addl $1, (%rsp)", "83 04 24 01", "[r7].4 := ?"},
    {"cmpl $5, %edi", "83 ff 05", "compare r5, 5"},
    {"cmpq %rcx, %rdi", "48 39 cf", "compare r5, r2"},
    {"cmpl %ecx, %edi", "39 cf", ""},
    {"cmpb $5, %ch", "80 fd 05", ""},
    {"cmpl $5, (%rdi)", "83 3f 05", ""},
    {"testl %edi, %edi", "85 ff", ""},
    {"andq $-16, %rsp", "48 83 e4 f0", "r7 &= -16"},
    {"andl $-16, %eax", "83 e0 f0", "r0 &= 4294967280"},
    {"andw $15, %ax", "66 83 e0 0f", "r0 := ?"},
    {"andq %rcx, %rsp", "48 21 cc", "r7 := ?"},
    {"shlq $3, %rcx", "48 c1 e1 03", "r2 += r2 * 7"},
    {"shlq $4, %rcx", "48 c1 e1 04", "r2 := ?"},
    {"shlq %cl, %rdx", "48 d3 e2", "r1 := ?"},
    {"xorl %eax, %eax", "31 c0", "r0 := 0"},
    {"xorq %rax, %rax", "48 31 c0", "r0 := 0"},
    {"xorl %ecx, %eax", "31 c8", "r0 := ?"},
    {"xorb %al, %al", "30 c0", "r0 := ?"},
    {"imulq %rcx, %rax", "48 0f af c1", "r0 := ?"},
    {"mulq %rcx", "48 f7 e1", "r0 := ?; r1 := ?"},
    {"cpuid", "0f a2", "r0 := ?; r3 := ?; r2 := ?; r1 := ?"},
    {"rdtsc", "0f 31", "r0 := ?; r1 := ?"},
    {"movaps %xmm0, 16(%rsp)", "0f 29 44 24 10", "[r7 + 16].16 := ?"},
    {"fxsave (%rsp)", "0f ae 04 24",
     "[r7].128 := ?; [r7 + 128].128 := ?; [r7 + 256].128 := ?; [r7 + 384].128 := ?"},
    {"rep stosq", "f3 48 ab", "[r5].8 := ?; r5 := ?; r2 := ?"},
    {"jmp .+16", "eb 0e", "-> jump 0x1010"},
    {"jmpq *%rax", "ff e0", "-> indirect r0"},
    {"jmpq *8(%rax)", "ff 60 08", "r16 := [r0 + 8] -> indirect r16"},
    {"jmpq *0x3000(,%rdi,8)", "ff 24 fd 00 30 00 00", "r16 := [r255 + r5*8 + 12288].8 -> indirect r16"},
    {"callq .+16", "e8 0b 00 00 00", "-> call 0x1010"},
    {"callq *%rax", "ff d0", "-> indirect call"},
    {"callq *8(%rax)", "ff 50 08", "-> indirect call"},
    {"ja .+16", "77 0e", "-> branch above 0x1010"},
    {"jae .+16", "73 0e", "-> branch above or equal 0x1010"},
    {"jb .+16", "72 0e", "-> branch below 0x1010"},
    {"jbe .+16", "76 0e", "-> branch below or equal 0x1010"},
    {"je .+16", "74 0e", "-> branch equal 0x1010"},
    {"jne .+16", "75 0e", "-> branch not equal 0x1010"},
    {"jg .+16", "7f 0e", "-> branch 0x1010"},
    {"loop .+16", "e2 0e", "r2 := ? -> branch 0x1010"},
    {"retq", "c3", "-> ret"},
    {"retq $8", "c2 08 00", "-> ret"},
    {"iretq", "48 cf", "-> stop"},
    {"lret", "cb", "-> stop"},
    {"ud2", "0f 0b", "-> stop"},
    {"hlt", "f4", "-> stop"},
    {"int3", "cc", "nop -> stop"},
    {"syscall", "0f 05", "r2 := ?; r11 := ?; r0 := ?"},
    {"nop", "90", "nop"},
    {"nopw (%rax,%rax)", "66 0f 1f 04 00", "nop"},
    {"endbr64", "f3 0f 1e fa", ""},
};

TEST(Amd64Decoder, InstructionEffects) {
  test::expect_meanings(Abi::amd64, cases);
}

TEST(Amd64Decoder, MarksUnknownFlags) {
  const auto loses = [](const char* bytes) { return test::loses_flags(Abi::amd64, bytes); };
  EXPECT_TRUE(loses("85 ff"));     // test %edi, %edi
  EXPECT_TRUE(loses("48 ff c0"));  // inc %rax
  EXPECT_TRUE(loses("9d"));        // popfq
  EXPECT_FALSE(loses("83 ff 05")); // cmp $5, %edi: they are a compare's
  EXPECT_FALSE(loses("9c"));       // pushfq
  EXPECT_FALSE(loses("5b"));       // pop %rbx
  EXPECT_FALSE(loses("48 89 e5")); // mov %rsp, %rbp
}

TEST(Amd64Decoder, LengthOfNewerInstructions) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const Newer& one : newer) {
    const auto bytes = test::hex(one.bytes);
    auto more = bytes;
    more.resize(bytes.size() + 16, std::byte{0x90});
    code::Instruction instruction;
    std::vector<code::Effect> effects;
    EXPECT_TRUE(decoder->decode(more, 0x1000, instruction, effects)) << one.assembly;
    EXPECT_EQ(instruction.length, bytes.size()) << one.assembly;
    EXPECT_EQ(instruction.flow, code::Flow::next) << one.assembly;
    EXPECT_FALSE(instruction.is_nop) << one.assembly;
    EXPECT_TRUE(effects.empty()) << one.assembly;
  }
}

TEST(Amd64Decoder, RefusesTruncatedNewerInstruction) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const Newer& one : newer) {
    const auto bytes = test::hex(one.bytes);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      code::Instruction instruction;
      std::vector<code::Effect> effects;
      EXPECT_FALSE(decoder->decode(std::span(bytes).first(size), 0x1000, instruction, effects))
          << one.assembly << ", " << size << " bytes";
    }
  }
}

// Opcodes other than those that are known, which no processor has: a VEX prefix alone is not enough.
TEST(Amd64Decoder, RefusesInvalid) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const char* bytes : {"c4 e2 70 cb c2", "c4 e3 68 de 0f 05", "c4 e2 70 b4 c2", "c4 e2 73 d3 c2",
                            "c4 e1 7b d3 c2", "c4 e2 78 b1 07", "f2 0f 00 38"})
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), "no instruction") << bytes;
}

// An instruction of one operand after one of two: what the second was is nothing to the first. (The
// sanitizers see reads of operands that no instruction has written yet.)
TEST(Amd64Decoder, ReadsOnlyExistingOperands) {
  const std::array texts = {
      std::pair{"0f ae 3f", ""},                        // clflush (%rdi)
      std::pair{"f0 83 0c 24 00", ""},                  // lock orl $0, (%rsp)
      std::pair{"0f ae 3c 24", ""},                     // clflush (%rsp)
      std::pair{"0f c0 04 24", "[r7].1 := ?; r0 := ?"}, // xadd %al, (%rsp)
  };
  for (const auto& [bytes, meaning] : texts) {
    const auto decoder = code::make_decoder(traits(Abi::amd64)); // has decoded nothing
    ASSERT_TRUE(decoder);
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), meaning) << bytes;
  }
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  for (const auto& [bytes, meaning] : texts)
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), meaning) << bytes;
}

/// Derived by hand from the operands. push2 pushes the second operand, as AT&T writes it, first: as clang's
/// CFI has it.
constexpr test::DecoderCase apx[] = {
    {"push2p %r15, %rbp", "62 d4 d4 18 ff f7", "[r7 - 8] := r6; [r7 - 16] := r15; r7 += -16"},
    {"push2 %rbx, %r12", "62 f4 1c 18 ff f3", "[r7 - 8] := r12; [r7 - 16] := r3; r7 += -16"},
    {"push2 %r16, %rbx", "62 fc 64 18 ff f0", "[r7 - 8] := r3; [r7 - 16].8 := ?; r7 += -16"},
    {"pop2p %r12, %rbx", "62 d4 e4 18 8f c4", "r3 := [r7]; r12 := [r7 + 8]; r7 += 16"},
    {"pop2 %rbp, %r15", "62 f4 04 18 8f c5", "r15 := [r7]; r6 := [r7 + 8]; r7 += 16"},
    {"pushp %rax", "d5 08 50", "[r7 - 8] := r0; r7 += -8"},
    {"popp %rbp", "d5 08 5d", "r6 := [r7]; r7 += 8"},
    {"pushq %r16", "d5 10 50", "[r7 - 8].8 := ?; r7 += -8"},
    {"popq %r31", "d5 11 5f", "r7 += 8"},
    {"movq %r16, %rax", "d5 48 89 c0", "r0 := ?"},
    {"movq %rax, %r17", "d5 18 89 c1", ""},
    {"movq %rbp, 8(%r16)", "d5 18 89 68 08", ""},
    {"movq %r18, 16(%rsp)", "d5 48 89 54 24 10", "[r7 + 16].8 := ?"},
    {"movq 8(%rsp,%r20,8), %rbx", "d5 28 8b 5c e4 08", "r3 := ?"},
    {"leaq 8(%r16), %rbp", "d5 18 8d 68 08", "r6 := ?"},
    {"leaq 256(%rip), %r16", "d5 48 8d 05 00 01 00 00", ""},
    {"addq $8, %r24", "d5 19 83 c0 08", ""},
    {"imulq %r16, %rbx", "d5 98 af d8", "r3 := ?"},
    {"callq *%r16", "d5 10 ff d0", "-> indirect call"},
    {"subq %r16, 8(%rsp)", "d5 48 29 44 24 08", "[r7 + 8].8 := ?"},
    {"xchgq %r16, %rax", "d5 18 90", "r0 := ?"},
    {"imulw $300, %ax, %r16w", "66 d5 40 69 c0 2c 01", ""},
    {"jmpabs $0x123456789abc", "d5 00 a1 bc 9a 78 56 34 12 00 00", "-> jump 0x123456789abc"},
    {"addq $16, %rsp, %rbx", "62 f4 e4 18 83 c4 10", "r3 := r7 + 16"},
    {"{nf} subq $32, %rsp", "62 f4 fc 0c 83 ec 20", "r7 += -32"},
    {"{nf} addq $32, %rsp", "62 f4 fc 0c 83 c4 20", "r7 += 32"},
    {"{nf} imulq %r12, %r13, %rsi", "62 54 cc 1c af ec", "r4 := ?"},
    {"{nf} imulq 16(%rsp), %r15, %rax", "62 74 fc 1c af 7c 24 10", "r0 := ?"},
    {"addq %rbx, %r16, %rbp", "62 fc d4 18 01 d8", "r6 := ?"},
    {"{nf} addq %rax, %rbp", "62 f4 fc 0c 01 c5", "r6 := ?"},
    {"ccmpeq {dfv=zf} %rbp, %rax", "62 f4 94 04 39 e8", ""},
    {"ctestneq {dfv=cf} $8, %rbp", "62 f4 8c 05 f7 c5 08 00 00 00", ""},
    {"{nf} mulq %rbx", "62 f4 fc 0c f7 e3", "r0 := ?; r1 := ?"},
    {"cmovneq %rax, %rbx, %rbp", "62 f4 d4 18 45 d8", "r6 := ?"},
    {"setzune %bl", "62 f4 7f 18 45 c3", "r3 := ?"},
    {"shldq $3, %rax, %rbx, %rbp", "62 f4 d4 18 24 c3 03", "r6 := ?"},
    {"{nf} popcntq %rax, %rbx", "62 f4 fc 0c 88 d8", "r3 := ?"},
    {"movbeq %rbx, %rbp", "62 f4 fc 08 61 dd", "r6 := ?"},
    {"{nf} sarq %cl, %rbp", "62 f4 fc 0c d3 fd", "r6 := ?"},
    {"notq %rbp, %rbx", "62 f4 e4 18 f7 d5", "r3 := ?"},
    {"crc32b %r16b, %rax", "62 fc fc 08 f0 c0", "r0 := ?"},
};

TEST(Amd64Decoder, ApxEffects) {
  test::expect_meanings(Abi::amd64, apx);
}

/// Nothing is read beyond the end, and a part of an instruction is none.
TEST(Amd64Decoder, ApxLengths) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const test::DecoderCase& one : apx) {
    const std::vector<std::byte> bytes = test::hex(one.bytes);
    code::Instruction instruction;
    std::vector<code::Effect> effects;
    EXPECT_TRUE(decoder->decode(bytes, 0, instruction, effects)) << one.assembly;
    EXPECT_EQ(instruction.length, bytes.size()) << one.assembly;
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(decoder->decode(part, 0, instruction, effects)) << one.assembly << ' ' << size;
    }
  }
}

/// Opcodes that REX2 may not precede, an unknown one of map 4, and the first byte alone.
TEST(Amd64Decoder, NoApx) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const char* bytes :
       {"d5 00 70 00 00 00", "d5 00 0f af c0 00", "d5 80 84 00 00 00 00 00", "d5 00 66 90 90 90",
        "d5 10 48 89 c0 00", "62 f4 7c 08 05 c0 00 00", "d5", "62"}) {
    code::Instruction instruction;
    std::vector<code::Effect> effects;
    EXPECT_FALSE(decoder->decode(test::hex(bytes), 0, instruction, effects)) << bytes;
    EXPECT_TRUE(effects.empty()) << bytes;
  }
}

} // namespace code_amd64_decoder_test
