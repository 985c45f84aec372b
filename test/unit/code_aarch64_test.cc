// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AArch64 decoder, instruction by instruction. Encodings are from llvm-mc; expectations were derived by
// hand from the manual's description of each instruction. Instructions are at 0x1000.

#include "code_decoder_cases.h"

namespace code_aarch64_test {

using namespace sframe;

constexpr test::DecoderCase cases[] = {
    {"stp x29, x30, [sp, #-32]!", "fd 7b be a9", "r31 := r31 - 32; [r31] := r29; [r31 + 8] := r30"},
    {"ldp x29, x30, [sp], #32", "fd 7b c2 a8", "r29 := [r31]; r30 := [r31 + 8]; r31 := r31 + 32"},
    {"stp x19, x20, [sp, #16]", "f3 53 01 a9", "[r31 + 16] := r19; [r31 + 24] := r20"},
    {"ldp x19, x20, [sp, #16]", "f3 53 41 a9", "r19 := [r31 + 16]; r20 := [r31 + 24]"},
    {"ldp x0, x1, [x0]", "00 04 40 a9", "r1 := [r0 + 8]; r0 := [r0]"},
    {"ldp x1, x0, [x0, #16]", "01 00 41 a9", "r1 := [r0 + 16]; r0 := [r0 + 24]"},
    {"ldp x0, x1, [x0], #16 (unpredictable)", "00 04 c1 a8", "r1 := [r0 + 8]; r0 := [r0]; r0 := ?"},
    {"stp w1, w2, [sp, #8]", "e1 0b 01 29", "[r31 + 8].8 := ?"},
    {"ldp w1, w2, [sp, #8]", "e1 0b 41 29", "r1 := ?; r2 := ?"},
    {"stp xzr, x1, [sp]", "ff 07 00 a9", "[r31].8 := ?; [r31 + 8] := r1"},
    {"stp d8, d9, [sp, #-16]!", "e8 27 bf 6d", "r31 := r31 - 16; [r31].16 := ?"},
    {"ldp q8, q9, [sp], #32", "e8 27 c1 ac", "r31 := r31 + 32"},
    {"str x30, [sp, #-16]!", "fe 0f 1f f8", "r31 := r31 - 16; [r31] := r30"},
    {"ldr x30, [sp], #16", "fe 07 41 f8", "r30 := [r31]; r31 := r31 + 16"},
    {"str x19, [sp, #8]", "f3 07 00 f9", "[r31 + 8] := r19"},
    {"stur x19, [x29, #-8]", "b3 83 1f f8", "[r29 - 8] := r19"},
    {"ldur x19, [x29, #-8]", "b3 83 5f f8", "r19 := [r29 - 8]"},
    {"strb w1, [sp, #15]", "e1 3f 00 39", "[r31 + 15].1 := ?"},
    {"str w1, [sp, #12]", "e1 0f 00 b9", "[r31 + 12].4 := ?"},
    {"str q0, [sp, #16]", "e0 07 80 3d", "[r31 + 16].16 := ?"},
    {"str x1, [sp, x2]", "e1 6b 22 f8", ""},
    {"stlr x1, [sp]", "e1 ff 9f c8", "[r31] := r1"},
    {"stxr w3, x1, [sp]", "e1 7f 03 c8", "[r31].8 := ?; r3 := ?"},
    {"ldaxr x1, [x0]", "01 fc 5f c8", "r1 := ?"},
    {"ldadd x1, x2, [sp]", "e2 03 21 f8", "[r31].8 := ?; r2 := ?"},
    {"cas x1, x2, [x0]", "02 7c a1 c8", "[r0].8 := ?; r1 := ?"},
    {"casp x2, x3, x4, x5, [sp]", "e4 7f 22 48", "[r31].16 := ?; r2 := ?; r3 := ?"},
    {"st1 { v0.16b, v1.16b }, [sp], #32", "e0 a3 9f 4c", "[r31].32 := ?; r31 := r31 + 32"},
    {"ld1 { v0.16b }, [x0], x1", "00 70 c1 4c", "r0 += r1 * 1"},
    {"stgp x1, x2, [sp, #-32]!", "e1 0b bf 69", "r31 := r31 - 32; [r31] := r1; [r31 + 8] := r2"},
    {"ldraa x0, [x1, #-16]!", "20 ec 7f f8", "r1 := r1 - 16; r0 := ?"},
    {"sub sp, sp, #4080", "ff c3 3f d1", "r31 := r31 - 4080"},
    {"sub sp, sp, #16, lsl #12", "ff 43 40 d1", "r31 := r31 - 65536"},
    {"mov x29, sp", "fd 03 00 91", "r29 := r31"},
    {"add sp, x29, #16", "bf 43 00 91", "r31 := r29 + 16"},
    {"sub sp, sp, x16", "ff 63 30 cb", "r31 += r16 * -1"},
    {"mov x16, #65536", "30 00 a0 d2", "r16 := 65536"},
    {"movk x16, #1, lsl #16", "30 00 a0 f2", "r16 &= -4294901761; r16 := r16 + 65536"},
    {"mov x0, #-1", "00 00 80 92", "r0 := -1"},
    {"mov w0, #-1", "00 00 80 12", "r0 := 4294967295"},
    {"mov x0, x1", "e0 03 01 aa", "r0 := r1"},
    {"mov w0, w1", "e0 03 01 2a", "r0 := (r1).4"},
    {"mov x0, xzr", "e0 03 1f aa", "r0 := 0"},
    {"and sp, x9, #-16", "3f ed 7c 92", "r31 := r9; r31 &= -16"},
    {"and x1, x1, #0xf0f0f0f0f0f0f0f", "21 cc 00 92", "r1 &= 1085102592571150095"},
    {"and x1, x2, #0xffff0000ffff0000", "41 3c 10 92", "r1 := r2; r1 &= -281470681808896"},
    {"and w1, w2, #0xffff", "41 3c 00 12", "r1 := r2; r1 &= 65535"},
    {"and x1, x2, #0x7fffffff", "41 78 40 92", "r1 := r2; r1 &= 2147483647"},
    {"and x1, x2, #0x1", "41 00 40 92", "r1 := r2; r1 &= 1"},
    {"and w1, w2, #0xf0f0f0f0", "41 cc 04 12", "r1 := r2; r1 &= 4042322160"},
    {"and x1, x2, #0xfffffffffffffffe", "41 f8 7f 92", "r1 := r2; r1 &= -2"},
    {"and x1, x2, #0x5555555555555555", "41 f0 00 92", "r1 := r2; r1 &= 6148914691236517205"},
    {"and x1, x1, #0x8000000000000001", "21 04 41 92", "r1 &= -9223372036854775807"},
    {"and w1, w1, #7", "21 08 00 12", "r1 &= 7"},
    {"uxtb w1, w2", "41 1c 00 53", "r1 := (r2).1"},
    {"uxth w1, w2", "41 3c 00 53", "r1 := (r2).2"},
    {"sxtb x1, w2", "41 1c 40 93", "r1 := (r2).1s"},
    {"sxth x1, w2", "41 3c 40 93", "r1 := (r2).2s"},
    {"sxtb w1, w2", "41 1c 00 13", "r1 := ?"},
    {"bfxil x1, x2, #0, #8", "41 1c 40 b3", "r1 := ?"},
    {"ubfx x1, x2, #4, #8", "41 2c 44 d3", "r1 := ?"},
    {"sxtw x1, w2", "41 7c 40 93", "r1 := (r2).4s"},
    {"lsl x1, x2, #3", "41 f0 7d d3", "r1 := 0; r1 += r2 * 8"},
    {"lsl x1, x1, #3", "21 f0 7d d3", "r1 += r1 * 7"},
    {"sub w1, w1, #3", "21 0c 00 51", "r1 := (r1 - 3).4"},
    {"add w1, w2, w3", "41 00 03 0b", "r1 := ?"},
    {"add x1, x1, x2, lsl #2", "21 08 02 8b", "r1 += r2 * 4"},
    {"add x1, x2, x1, lsl #2", "41 08 01 8b", "r32 := r1; r1 := r2; r1 += r32 * 4"},
    {"add x1, x1, w0, sxtb #2", "21 88 20 8b", "r32 := (r0).1s; r1 += r32 * 4"},
    {"add x1, x2, x3, lsr #2", "41 08 43 8b", "r1 := ?"},
    {"cmp w0, #5", "1f 14 00 71", "compare r0, 5"},
    {"cmp x0, x1", "1f 00 01 eb", "compare r0, r1"},
    {"adr x1, #16", "81 00 00 10", "r1 := 4112"},
    {"adrp x1, #8192", "01 00 00 d0", "r1 := 12288"},
    {"ldrb w0, [x1, w0, uxtw]", "20 48 60 38", "r0 := [r1 + r0*1].1"},
    {"ldrh w0, [x1, x2, lsl #1]", "20 78 62 78", "r0 := [r1 + r2*2].2"},
    {"ldrsw x0, [x1, x2, lsl #2]", "20 78 a2 b8", "r0 := [r1 + r2*4].4s"},
    {"ldr x0, [x1, x2, lsl #3]", "20 78 62 f8", "r0 := [r1 + r2*8].8"},
    {"ldr x0, #16", "80 00 00 58", "r0 := ?"},
    {"csel x0, x1, x2, eq", "20 00 82 9a", "r0 := ?"},
    {"fmov x30, d8", "1e 01 66 9e", "r30 := ?"},
    {"fmov d30, x8", "1e 01 67 9e", ""},
    {"umov w3, v1.h[2]", "23 3c 0a 0e", "r3 := ?"},
    {"add v30.4s, v1.4s, v2.4s", "3e 84 a2 4e", ""},
    {"addvl sp, sp, #-1", "ff 57 3f 04", "r31 := r31 + -8/8 vectors"},
    {"addpl x1, sp, #31", "e1 53 7f 04", "r1 := r31 + 31/8 vectors"},
    {"addsvl sp, sp, #-1", "ff 5f 3f 04", "r31 := ?"},
    {"csetm x16, ne", "f0 03 9f da", "r16 := -1; r16 or 0"},
    {"csel x16, x16, xzr, le", "10 d2 9f 9a", "r16 := r16; r16 or 0"},
    {"csel x16, xzr, x15, le", "f0 d3 8f 9a", "r16 := r15; r16 or 0"},
    {"csel w16, w16, wzr, le", "10 d2 9f 1a", "r16 := ?"},
    {"and x17, x17, x16", "31 02 10 8a", "r17 &= r16"},
    {"and x30, x16, x30", "1e 02 1e 8a", "r30 &= r16"},
    {"and x1, x2, x3", "41 00 03 8a", "r1 := r2; r1 &= r3"},
    {"orr x29, x29, #0x1000000000000000", "bd 03 44 b2", "sign r29 A"},
    {"and x29, x29, #0xefffffffffffffff", "bd fb 43 92", "authenticate r29 A"},
    {"cntd x3", "e3 e3 e0 04", "r3 := ?"},
    {"mrs x1, tpidr_el0", "41 d0 3b d5", "r1 := ?"},
    {"paciasp", "3f 23 03 d5", "sign r30 A"},
    {"pacibsp", "7f 23 03 d5", "sign r30 B"},
    {"autiasp", "bf 23 03 d5", "authenticate r30 A"},
    {"pacia x30, sp", "fe 03 c1 da", "sign r30 A"},
    {"autib x30, x1", "3e 14 c1 da", "authenticate r30 B"},
    {"pacia x1, x2", "41 00 c1 da", "r1 := ?"},
    {"pacia1716", "1f 21 03 d5", "r17 := ?"},
    {"pacib1716", "5f 21 03 d5", "r17 := ?"},
    {"autia1716", "9f 21 03 d5", "r17 := ?"},
    {"autib1716", "df 21 03 d5", "r17 := ?"},
    {"xpaclri", "ff 20 03 d5", "authenticate r30 A"},
    {"bti c", "5f 24 03 d5", ""},
    {"nop", "1f 20 03 d5", "nop"},
    {"bl #16", "04 00 00 94", "-> call 0x1010 link r30"},
    {"b #-16", "fc ff ff 17", "-> jump 0xff0"},
    {"b.hi #16", "88 00 00 54", "-> branch above 0x1010"},
    {"b.ls #16", "89 00 00 54", "-> branch below or equal 0x1010"},
    {"b.lt #16", "8b 00 00 54", "-> branch 0x1010"},
    {"cbz x0, #16", "80 00 00 b4", "-> branch 0x1010"},
    {"tbnz w0, #3, #16", "80 00 18 37", "-> branch 0x1010"},
    {"blr x8", "00 01 3f d6", "-> indirect call r8 link r30"},
    {"br x17", "20 02 1f d6", "-> indirect r17"},
    {"braa x16, x17", "11 0a 1f d7", "-> indirect r16"},
    {"ret", "c0 03 5f d6", "-> ret r30"},
    {"retaa", "ff 0b 5f d6", "authenticate r30 A -> ret r30"},
    {"svc #0", "01 00 00 d4", "r0 := ?"},
    {"brk #1000", "00 7d 20 d4", "-> stop"},
    {"brk #0xf000", "00 00 3e d4", ""},
    {"udf #0", "00 00 00 00", "-> stop"},
};

TEST(Aarch64Decoder, InstructionEffects) {
  test::expect_meanings(Abi::aarch64_little, cases);
}

TEST(Aarch64Decoder, BigEndianProgramsDecodeTheSame) {
  const auto decoder = code::make_decoder(traits(Abi::aarch64_big));
  ASSERT_TRUE(decoder);
  EXPECT_EQ(test::decoded_text(*decoder, test::hex("fd 7b be a9")),
            "r31 := r31 - 32; [r31] := r29; [r31 + 8] := r30");
}

TEST(Aarch64Decoder, RefusesPartialWord) {
  const auto decoder = code::make_decoder(traits(Abi::aarch64_little));
  ASSERT_TRUE(decoder);
  code::Instruction instruction;
  std::vector<code::Effect> effects;
  EXPECT_FALSE(decoder->decode(test::hex("fd 7b be"), 0, instruction, effects));
  EXPECT_EQ(instruction.length, 3);
  EXPECT_TRUE(effects.empty());
}

TEST(Aarch64Decoder, RefusesUnallocated) {
  const auto decoder = code::make_decoder(traits(Abi::aarch64_little));
  ASSERT_TRUE(decoder);
  // Only the lower half of udf is free; the classes that bits 28 to 25 = 1 and 3 name are empty.
  for (const char* bytes : {"00 00 01 00", "00 00 00 02", "00 00 00 06"})
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), "no instruction") << bytes;
}

TEST(Aarch64Decoder, MarksUnknownFlags) {
  const auto loses = [](const char* bytes) { return test::loses_flags(Abi::aarch64_little, bytes); };
  EXPECT_TRUE(loses("1f 00 01 ea"));  // tst x0, x1
  EXPECT_TRUE(loses("00 20 61 1e"));  // fcmp d0, d1
  EXPECT_FALSE(loses("1f 14 00 71")); // cmp w0, #5: they are a compare's
  EXPECT_FALSE(loses("e0 03 01 aa")); // mov x0, x1
}

} // namespace code_aarch64_test
