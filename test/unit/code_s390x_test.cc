// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The s390x decoder, instruction by instruction. Encodings are from llvm-mc; expectations were derived by
// hand from the manual's description of each instruction. Instructions are at 0x1000.

#include "code_effect_text.h"
#include "inputs.h"
#include "sframe/abi.h"
#include "gtest/gtest.h"

namespace code_s390x_test {

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
    {"lm %r6, %r8, 160(%r15)", "98 68 f0 a0", "r6 := ?; r7 := ?; r8 := ?"},
    {"lmh %r6, %r8, 160(%r15)", "eb 68 f0 a0 00 96", "r6 := ?; r7 := ?; r8 := ?"},
    {"lmy %r14, %r1, 8(%r2)", "eb e1 20 08 00 98", "r14 := ?; r15 := ?; r0 := ?; r1 := ?"},
    {"lmg %r6, %r8, 8", "eb 68 00 08 00 04", "r6 := ?; r7 := ?; r8 := ?"},
    {"lpq %r2, 160(%r15)", "e3 20 f0 a0 00 8f", "r2 := ?; r3 := ?"},
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
    {"sg %r15, 168(%r11)", "e3 f0 b0 a8 00 09", "r32 := [r11 + 168]; r15 += r32 * -1"},
    {"slg %r15, 168(%r11)", "e3 f0 b0 a8 00 0b", "r32 := [r11 + 168]; r15 += r32 * -1"},
    {"sgrk %r1, %r15, %r1", "b9 e9 10 1f", "r32 := r1; r1 := r15; r1 += r32 * -1"},
    {"nill %r15, 65528", "a5 f7 ff f8", "r15 &= -8"},
    {"llgfr %r1, %r2", "b9 16 00 12", "r1 := (r2).4"},
    {"sllg %r1, %r2, 3", "eb 12 00 03 00 0d", "r1 := 0; r1 += r2 * 8"},
    {"sllg %r1, %r1, 3", "eb 11 00 03 00 0d", "r1 += r1 * 7"},
    {"sllg %r1, %r2, 62", "eb 12 00 3e 00 0d", "r1 := 0; r1 += r2 * 4611686018427387904"},
    {"sllg %r1, %r2, 63", "eb 12 00 3f 00 0d", "r1 := ?"},
    {"sllg %r1, %r2, 64", "eb 12 00 40 00 0d", "r1 := r2"},
    {"sllg %r1, %r2, 3(%r4)", "eb 12 40 03 00 0d", "r1 := ?"},
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
    {"bras %r13, 0x10", "a7 d5 00 08", "r13 := 4100 -> jump 0x1010 link r13"},
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
    {"b 8(%r1,%r2)", "47 f1 20 08", "r32 := r2 + 8; r32 += r1 * 1 -> indirect r32"},
    {"b 0(%r14)", "47 f0 e0 00", "-> ret r14"},
    {"bi 8(%r1,%r2)", "e3 f1 20 08 00 47", "r32 := [r2 + r1*1 + 8].8 -> indirect r32"},
    {"bcr 0, %r7", "07 07", "nop"},
    {"bc 0, 0", "47 00 00 00", "nop"},
    {"brcl 0, .", "c0 04 00 00 00 00", "nop"},
    {"brcl 0, 0x10", "c0 04 00 00 00 08", "-> patchable 0x1010"},
    {"svc 4", "0a 04", "r2 := ?"},
    {"svc 1", "0a 01", "-> stop"},
    {"svc 248", "0a f8", "-> stop"},
    {"mc 0, 0", "af 00 00 00", "-> trap"},
    {"exrl %r1, 0x10", "c6 10 00 00 00 08", "r1 := ?; r2 := ? -> execute 0x1010"},
    {"exrl %r0, .+6; br %r1", "c6 00 00 00 00 03 07 f1", "-> indirect r1"},
    {"exrl %r0, .+6; br %r14", "c6 00 00 00 00 03 07 fe", "-> ret r14"},
    {"exrl %r1, .+6; br %r1", "c6 10 00 00 00 03 07 f1", "r1 := ?; r2 := ? -> execute 0x1006"},
};

/// How many bytes each store writes, and the registers that get a result.
constexpr Case stores[] = {
    {"stc %r1, 160(%r15)", "42 10 f0 a0", "[r15 + 160].1 := ?"},
    {"stcy %r1, 160(%r15)", "e3 10 f0 a0 00 72", "[r15 + 160].1 := ?"},
    {"sth %r1, 160(%r15)", "40 10 f0 a0", "[r15 + 160].2 := ?"},
    {"sthy %r1, 160(%r15)", "e3 10 f0 a0 00 70", "[r15 + 160].2 := ?"},
    {"sty %r1, 160(%r15)", "e3 10 f0 a0 00 50", "[r15 + 160].4 := ?"},
    {"ste %f0, 160(%r15)", "70 00 f0 a0", "[r15 + 160].4 := ?"},
    {"stey %f0, 160(%r15)", "ed 00 f0 a0 00 66", "[r15 + 160].4 := ?"},
    {"stch %r1, 160(%r15)", "e3 10 f0 a0 00 c3", "[r15 + 160].1 := ?"},
    {"sthh %r1, 160(%r15)", "e3 10 f0 a0 00 c7", "[r15 + 160].2 := ?"},
    {"stfh %r1, 160(%r15)", "e3 10 f0 a0 00 cb", "[r15 + 160].4 := ?"},
    {"strv %r1, 160(%r15)", "e3 10 f0 a0 00 3e", "[r15 + 160].4 := ?"},
    {"strvh %r1, 160(%r15)", "e3 10 f0 a0 00 3f", "[r15 + 160].2 := ?"},
    {"strvg %r1, 160(%r15)", "e3 10 f0 a0 00 2f", "[r15 + 160].8 := ?"},
    {"stpq %r2, 160(%r15)", "e3 20 f0 a0 00 8e", "[r15 + 160] := r2; [r15 + 168] := r3"},
    {"cvd %r1, 160(%r15)", "4e 10 f0 a0", "[r15 + 160].8 := ?"},
    {"cvdy %r1, 160(%r15)", "e3 10 f0 a0 00 26", "[r15 + 160].8 := ?"},
    {"cvdg %r1, 160(%r15)", "e3 10 f0 a0 00 2e", "[r15 + 160].16 := ?"},
    {"stm %r6, %r9, 160(%r15)", "90 69 f0 a0", "[r15 + 160].16 := ?"},
    {"stmy %r6, %r9, 160(%r15)", "eb 69 f0 a0 00 90", "[r15 + 160].16 := ?"},
    {"stmh %r6, %r9, 160(%r15)", "eb 69 f0 a0 00 26", "[r15 + 160].16 := ?"},
    {"stam %a0, %a1, 160(%r15)", "9b 01 f0 a0", "[r15 + 160].8 := ?"},
    {"stcm %r1, 15, 160(%r15)", "be 1f f0 a0", "[r15 + 160].4 := ?"},
    {"stcmy %r1, 15, 160(%r15)", "eb 1f f0 a0 00 2d", "[r15 + 160].4 := ?"},
    {"stcmh %r1, 15, 160(%r15)", "eb 1f f0 a0 00 2c", "[r15 + 160].4 := ?"},
    {"mviy 160(%r15), 1", "eb 01 f0 a0 00 52", "[r15 + 160].1 := ?"},
    {"ni 160(%r15), 1", "94 01 f0 a0", "[r15 + 160].1 := ?"},
    {"oi 160(%r15), 1", "96 01 f0 a0", "[r15 + 160].1 := ?"},
    {"xi 160(%r15), 1", "97 01 f0 a0", "[r15 + 160].1 := ?"},
    {"niy 160(%r15), 1", "eb 01 f0 a0 00 54", "[r15 + 160].1 := ?"},
    {"oiy 160(%r15), 1", "eb 01 f0 a0 00 56", "[r15 + 160].1 := ?"},
    {"xiy 160(%r15), 1", "eb 01 f0 a0 00 57", "[r15 + 160].1 := ?"},
    {"mvhhi 160(%r15), 1", "e5 44 f0 a0 00 01", "[r15 + 160].2 := ?"},
    {"mvhi 160(%r15), 1", "e5 4c f0 a0 00 01", "[r15 + 160].4 := ?"},
    {"asi 160(%r15), 1", "eb 01 f0 a0 00 6a", "[r15 + 160].4 := ?"},
    {"agsi 160(%r15), 1", "eb 01 f0 a0 00 7a", "[r15 + 160].8 := ?"},
    {"alsi 160(%r15), 1", "eb 01 f0 a0 00 6e", "[r15 + 160].4 := ?"},
    {"algsi 160(%r15), 1", "eb 01 f0 a0 00 7e", "[r15 + 160].8 := ?"},
    {"csg %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 30", "[r15 + 160].8 := ?; r1 := ?"},
    {"csy %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 14", "[r15 + 160].4 := ?; r1 := ?"},
    {"cds %r2, %r4, 160(%r15)", "bb 24 f0 a0", "[r15 + 160].8 := ?; r2 := ?; r3 := ?"},
    {"cdsy %r2, %r4, 160(%r15)", "eb 24 f0 a0 00 31", "[r15 + 160].8 := ?; r2 := ?; r3 := ?"},
    {"cdsg %r2, %r4, 160(%r15)", "eb 24 f0 a0 00 3e", "[r15 + 160].16 := ?; r2 := ?; r3 := ?"},
    {"stoc %r1, 160(%r15), 8", "eb 18 f0 a0 00 f3", "[r15 + 160].4 := ?"},
    {"stocg %r1, 160(%r15), 8", "eb 18 f0 a0 00 e3", "[r15 + 160].8 := ?"},
    {"stocfh %r1, 160(%r15), 8", "eb 18 f0 a0 00 e1", "[r15 + 160].4 := ?"},
    {"lan %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 f4", "[r15 + 160].4 := ?; r1 := ?"},
    {"lang %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 e4", "[r15 + 160].8 := ?; r1 := ?"},
    {"lao %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 f6", "[r15 + 160].4 := ?; r1 := ?"},
    {"laog %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 e6", "[r15 + 160].8 := ?; r1 := ?"},
    {"lax %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 f7", "[r15 + 160].4 := ?; r1 := ?"},
    {"laxg %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 e7", "[r15 + 160].8 := ?; r1 := ?"},
    {"laa %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 f8", "[r15 + 160].4 := ?; r1 := ?"},
    {"laag %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 e8", "[r15 + 160].8 := ?; r1 := ?"},
    {"laal %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 fa", "[r15 + 160].4 := ?; r1 := ?"},
    {"laalg %r1, %r2, 160(%r15)", "eb 12 f0 a0 00 ea", "[r15 + 160].8 := ?; r1 := ?"},
    {"vstef %v0, 160(%r15), 0", "e7 00 f0 a0 00 0b", "[r15 + 160].4 := ?"},
    {"vsteb %v0, 160(%r15), 0", "e7 00 f0 a0 00 08", "[r15 + 160].1 := ?"},
    {"vsteh %v0, 160(%r15), 0", "e7 00 f0 a0 00 09", "[r15 + 160].2 := ?"},
    {"vsteg %v0, 160(%r15), 0", "e7 00 f0 a0 00 0a", "[r15 + 160].8 := ?"},
    {"vstm %v0, %v3, 160(%r15)", "e7 03 f0 a0 00 3e", "[r15 + 160].64 := ?"},
    {"stck 160(%r15)", "b2 05 f0 a0", "[r15 + 160].8 := ?"},
    {"stckf 160(%r15)", "b2 7c f0 a0", "[r15 + 160].8 := ?"},
    {"stcke 160(%r15)", "b2 78 f0 a0", "[r15 + 160].16 := ?"},
    {"stfpc 160(%r15)", "b2 9c f0 a0", "[r15 + 160].4 := ?"},
    {"nc 160(4,%r15), 0(%r2)", "d4 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"oc 160(4,%r15), 0(%r2)", "d6 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"mvcin 160(4,%r15), 0(%r2)", "e8 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"mvn 160(4,%r15), 0(%r2)", "d1 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"mvz 160(4,%r15), 0(%r2)", "d3 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"tr 160(4,%r15), 0(%r2)", "dc 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"ed 160(4,%r15), 0(%r2)", "de 03 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"ap 160(4,%r15), 0(2,%r2)", "fa 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"zap 160(4,%r15), 0(2,%r2)", "f8 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"pack 160(4,%r15), 0(2,%r2)", "f2 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"unpk 160(4,%r15), 0(2,%r2)", "f3 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"mvo 160(4,%r15), 0(2,%r2)", "f1 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"sp 160(4,%r15), 0(2,%r2)", "fb 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"mp 160(4,%r15), 0(2,%r2)", "fc 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"dp 160(4,%r15), 0(2,%r2)", "fd 31 f0 a0 20 00", "[r15 + 160].4 := ?"},
    {"srp 160(4,%r15), 0(%r2), 3", "f0 33 f0 a0 20 00", "[r15 + 160].4 := ?"},
};

TEST(S390xDecoder, BytesStored) {
  const auto decoder = code::make_decoder(traits(Abi::s390x));
  ASSERT_TRUE(decoder);
  for (const Case& one : stores)
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(one.bytes)), one.meaning) << one.assembly;
}

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

} // namespace code_s390x_test
