// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The s390x decoder, instruction by instruction. Encodings are from llvm-mc; expectations were derived by
// hand from the manual's description of each instruction. Instructions are at 0x1000.

#include "code_effect_text.h"
#include "inputs.h"
#include "sframe/abi.h"
#include "gtest/gtest.h"

namespace {

using namespace sframe;

struct Case {
  const char* assembly;
  const char* bytes;
  const char* meaning;
};

constexpr Case cases[] = {
    {"stmg %r6, %r15, 48(%r15)", "eb 6f f0 30 00 24",
     "[r15 + 48] := r6; [r15 + 56] := r7; [r15 + 64] := r8; [r15 + 72] := r9; [r15 + 80] := r10; [r15 + 88] "
     ":= r11; [r15 + 96] := r12; [r15 + 104] := r13; [r15 + 112] := r14; [r15 + 120] := r15"},
    {"lmg %r13, %r15, 264(%r15)", "eb df f1 08 00 04",
     "r13 := [r15 + 264]; r14 := [r15 + 272]; r15 := [r15 + 280]"},
    {"lmg %r11, %r12, 0(%r11)", "eb bc b0 00 00 04", "r12 := [r11 + 8]; r11 := [r11]"},
    {"lmg %r15, %r0, 8(%r2)", "eb f0 20 08 00 04", "r15 := [r2 + 8]; r0 := [r2 + 16]"},
    {"stg %r14, 112(%r15)", "e3 e0 f0 70 00 24", "[r15 + 112] := r14"},
    {"stg %r14, 112(%r1,%r15)", "e3 e1 f0 70 00 24", ""},
    {"lg %r14, 112(%r15)", "e3 e0 f0 70 00 04", "r14 := [r15 + 112]"},
    {"lg %r1, 0(%r2,%r5)", "e3 12 50 00 00 04", "r1 := [r5 + r2*1].8"},
    {"lgf %r1, 4(%r2,%r5)", "e3 12 50 04 00 14", "r1 := [r5 + r2*1 + 4].4s"},
    {"llgc %r1, 0(%r2,%r5)", "e3 12 50 00 00 90", "r1 := [r5 + r2*1].1"},
    {"llgc %r1, 0(%r2)", "e3 10 20 00 00 90", "r1 := ?"},
    {"agf %r14, 4(%r2,%r14)", "e3 e2 e0 04 00 18", "r32 := [r14 + r2*1 + 4].4s; r14 += r32 * 1"},
    {"ag %r1, 0(%r2,%r5)", "e3 12 50 00 00 08", "r32 := [r5 + r2*1].8; r1 += r32 * 1"},
    {"ag %r1, 0(%r5)", "e3 10 50 00 00 08", "r1 := ?"},
    {"lr %r15, %r15", "18 ff", ""},
    {"lr %r15, %r1", "18 f1", "r15 := ?"},
    {"ltr %r2, %r2", "12 22", ""},
    {"or %r15, %r15", "16 ff", ""},
    {"ogr %r15, %r15", "b9 81 00 ff", ""},
    {"ngr %r15, %r1", "b9 80 00 f1", "r15 := ?"},
    {"stg %r14, -8(%r11)", "e3 e0 bf f8 ff 24", "[r11 - 8] := r14"},
    {"std %f8, 160(%r15)", "60 80 f0 a0", "[r15 + 160] := r24"},
    {"ld %f9, 160(%r15)", "68 90 f0 a0", "r28 := [r15 + 160]"},
    {"stdy %f8, -8(%r15)", "ed 80 ff f8 ff 67", "[r15 - 8] := r24"},
    {"ldgr %f0, %r14", "b3 c1 00 0e", "r16 := r14"},
    {"lgdr %r14, %f2", "b3 cd 00 e2", "r14 := r17"},
    {"ldr %f1, %f15", "28 1f", "r20 := r31"},
    {"st %r1, 160(%r15)", "50 10 f0 a0", "[r15 + 160].4 := ?"},
    {"mvi 163(%r15), 1", "92 01 f0 a3", "[r15 + 163].1 := ?"},
    {"mvghi 160(%r15), 0", "e5 48 f0 a0 00 00", "[r15 + 160].8 := ?"},
    {"mvc 160(8,%r15), 0(%r2)", "d2 07 f0 a0 20 00", "[r15 + 160].8 := ?"},
    {"xc 160(256,%r15), 160(%r15)", "d7 ff f0 a0 f0 a0", "[r15 + 160].255 := ?; [r15 + 415].1 := ?"},
    {"clc 160(8,%r15), 0(%r2)", "d5 07 f0 a0 20 00", ""},
    {"vst %v0, 160(%r15)", "e7 00 f0 a0 00 0e", "[r15 + 160].16 := ?"},
    {"vl %v9, 160(%r15)", "e7 90 f0 a0 00 06", "r28 := ?"},
    {"vl %v25, 160(%r15)", "e7 90 f0 a0 08 06", ""},
    {"aghi %r15, -160", "a7 fb ff 60", "r15 := r15 - 160"},
    {"agfi %r15, -65536", "c2 f8 ff ff 00 00", "r15 := r15 - 65536"},
    {"aghik %r1, %r15, -8", "ec 1f ff f8 00 d9", "r1 := r15 - 8"},
    {"slgfi %r15, 4294967295", "c2 f4 ff ff ff ff", "r15 := r15 - 4294967295"},
    {"lay %r15, -160(%r15)", "e3 f0 ff 60 ff 71", "r15 := r15 - 160"},
    {"la %r11, 160(%r15)", "41 b0 f0 a0", "r11 := r15 + 160"},
    {"la %r1, 8(%r2,%r1)", "41 12 10 08", "r1 += r2 * 1; r1 := r1 + 8"},
    {"la %r3, 0(%r2,%r1)", "41 32 10 00", "r3 := r1; r3 += r2 * 1"},
    {"lgr %r11, %r15", "b9 04 00 bf", "r11 := r15"},
    {"ltgr %r1, %r2", "b9 02 00 12", "r1 := r2"},
    {"lghi %r1, -8", "a7 19 ff f8", "r1 := -8"},
    {"lgfi %r1, 100000", "c0 11 00 01 86 a0", "r1 := 100000"},
    {"llilh %r1, 1", "a5 1e 00 01", "r1 := 65536"},
    {"larl %r1, 0x10", "c0 10 00 00 00 08", "r1 := 4112"},
    {"sgr %r15, %r1", "b9 09 00 f1", "r15 += r1 * -1"},
    {"sgrk %r1, %r15, %r1", "b9 e9 10 1f", "r32 := r1; r1 := r15; r1 += r32 * -1"},
    {"nill %r15, 65528", "a5 f7 ff f8", "r15 &= -8"},
    {"llgfr %r1, %r2", "b9 16 00 12", "r1 := (r2).4"},
    {"sllg %r1, %r2, 3", "eb 12 00 03 00 0d", "r1 := 0; r1 += r2 * 8"},
    {"sllg %r1, %r1, 3", "eb 11 00 03 00 0d", "r1 += r1 * 7"},
    {"srlg %r1, %r2, 3", "eb 12 00 03 00 0c", "r1 := ?"},
    {"risbgn %r1, %r2, 0, 188, 0", "ec 12 00 bc 00 59", "r1 := r2; r1 &= -8"},
    {"risbg %r1, %r2, 29, 188, 3", "ec 12 1d bc 03 55", "r1 := 0; r1 += r2 * 8; r1 &= 34359738360"},
    {"clgfi %r2, 5", "c2 2e 00 00 00 05", "compare r2, 5"},
    {"clgr %r2, %r3", "b9 21 00 23", "compare r2, r3"},
    {"cgfi %r2, 5", "c2 2c 00 00 00 05", ""},
    {"ar %r1, %r2", "1a 12", "r1 := ?"},
    {"mlgr %r2, %r4", "b9 86 00 24", "r2 := ?; r3 := ?"},
    {"adbr %f0, %f2", "b3 1a 00 02", "r16 := ?"},
    {"axbr %f0, %f4", "b3 4a 00 04", "r16 := ?; r17 := ?"},
    {"cgdbr %r2, 5, %f0", "b3 a9 50 20", "r2 := ?"},
    {"cs %r1, %r2, 160(%r15)", "ba 12 f0 a0", "[r15 + 160].4 := ?; r1 := ?"},
    {"br %r14", "07 fe", "-> ret r14"},
    {"br %r1", "07 f1", "-> indirect r1"},
    {"bnher %r14", "07 5e", "-> ret or on r14"},
    {"basr %r14, %r1", "0d e1", "-> indirect call r1 link r14"},
    {"basr %r13, 0", "0d d0", "r13 := 4098"},
    {"brasl %r14, 0x10", "c0 e5 00 00 00 08", "-> call 0x1010 link r14"},
    {"bras %r13, 0x10", "a7 d5 00 08", "r13 := 4100 -> jump 0x1010"},
    {"j 0x10", "a7 f4 00 08", "-> jump 0x1010"},
    {"jh 0x10", "a7 24 00 08", "-> branch above 0x1010"},
    {"jgle 0x10", "c0 c4 00 00 00 08", "-> branch below or equal 0x1010"},
    {"j 0x2", "a7 f4 00 01", "-> stop"},
    {"clgrjh %r1, %r2, 0x10", "ec 12 00 08 20 65", "compare r1, r2 -> branch above 0x1010"},
    {"clgijhe %r1, 200, 0x10", "ec 1a 00 08 c8 7d", "compare r1, 200 -> branch above or equal 0x1010"},
    {"cgrjlh %r1, %r2, 0x10", "ec 12 00 08 60 64", "-> branch 0x1010"},
    {"cgibe %r1, 0, 0(%r14)", "ec 18 e0 00 00 fc", "-> ret or on r14"},
    {"brctg %r1, 0x10", "a7 17 00 08", "r1 := r1 - 1 -> branch 0x1010"},
    {"brct %r1, 0x10", "a7 16 00 08", "r1 := ? -> branch 0x1010"},
    {"bi 8(%r1,%r2)", "e3 f1 20 08 00 47", "r32 := [r2 + r1*1 + 8].8 -> indirect r32"},
    {"bcr 0, %r7", "07 07", "nop"},
    {"bc 0, 0", "47 00 00 00", "nop"},
    {"brcl 0, .", "c0 04 00 00 00 00", "nop"},
    {"brcl 0, 0x10", "c0 04 00 00 00 08", "-> patchable 0x1010"},
    {"svc 4", "0a 04", "r2 := ?"},
    {"svc 1", "0a 01", "-> stop"},
    {"svc 248", "0a f8", "-> stop"},
    {"mc 0, 0", "af 00 00 00", "-> trap"},
    {"exrl %r1, 0x10", "c6 10 00 00 00 08", "r1 := ?; r2 := ?"},
};

TEST(S390xDecoder, InstructionEffects) {
  const auto decoder = code::make_decoder(traits(Abi::s390x));
  ASSERT_TRUE(decoder);
  for (const Case& one : cases)
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(one.bytes)), one.meaning) << one.assembly;
}

TEST(S390xDecoder, RefusesUnknownAndTruncated) {
  const auto decoder = code::make_decoder(traits(Abi::s390x));
  ASSERT_TRUE(decoder);
  code::Instruction instruction;
  std::vector<code::Effect> effects;
  EXPECT_FALSE(decoder->decode(test::hex("02 00"), 0, instruction, effects));
  EXPECT_EQ(instruction.length, 2);
  EXPECT_FALSE(decoder->decode(test::hex("eb 6f f0 30 00"), 0, instruction, effects)); // five bytes of stmg
  EXPECT_EQ(instruction.length, 5);
  EXPECT_FALSE(decoder->decode({}, 0, instruction, effects));
  EXPECT_TRUE(effects.empty());
}

TEST(S390xDecoder, MarksUnknownConditionCode) {
  const auto decoder = code::make_decoder(traits(Abi::s390x));
  ASSERT_TRUE(decoder);
  const auto loses = [&](const char* bytes) {
    code::Instruction instruction;
    std::vector<code::Effect> effects;
    EXPECT_TRUE(decoder->decode(test::hex(bytes), 0, instruction, effects));
    return instruction.writes_flags;
  };
  EXPECT_TRUE(loses("b9 02 00 12"));  // ltgr %r1, %r2
  EXPECT_TRUE(loses("a7 1e 00 05"));  // chi %r1, 5: a compare of signed numbers
  EXPECT_FALSE(loses("b9 04 00 12")); // lgr %r1, %r2
}

} // namespace
