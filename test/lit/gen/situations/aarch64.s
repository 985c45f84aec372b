// Every DWARF situation on AArch64 and what each version represents of it. The rows in the CFI lines are those of
// readelf; the rows in the V3 lines must be equal; what a version cannot represent must be named in its report.

// RUN: llvm-mc -filetype=obj -triple=aarch64 %s -o %t.o
// RUN: ld.lld -shared --build-id=sha1 -Ttext=0x1000 %t.o -o %t.so
// RUN: readelf --debug-dump=frames-interp %t.so | FileCheck %s --check-prefix=CFI
// RUN: sframe-gen %t.so -o %t.v3 2> %t.report
// RUN: sframe-dump %t.v3 | FileCheck %s --check-prefix=V3
// RUN: FileCheck %s --check-prefix=REPORT < %t.report
// RUN: sframe-verify --check=structure,cfi %t.v3

// Big-endian data, the same rows.
// RUN: llvm-mc -filetype=obj -triple=aarch64_be %s -o %t.be.o
// RUN: ld.lld -EB -shared --build-id=sha1 -Ttext=0x1000 %t.be.o -o %t.be.so
// RUN: sframe-gen %t.be.so -o %t.be.v3
// RUN: sframe-dump %t.be.v3 | FileCheck %s --check-prefixes=V3,BE
// RUN: sframe-verify --check=structure,cfi %t.be.v3
// BE: ABI aarch64_be, big-endian

        .globl leaf, frame, ra_only, fp_only, signed, b_key, fp_in_register, ra_in_register, third_register, stored_cfa
        .globl outermost, handler, nested, ra_restored, inexpressible, others, ra_value, sp_moved, far_rows, register_slots

// V3:      0x1000-0x1004  leaf
// V3:        0x1000 sp+0 same same
        .type leaf, %function
leaf:   .cfi_startproc
        ret
        .cfi_endproc
        .size leaf, .-leaf

// CFI:      0000000000001010 sp+0 u u
// CFI-NEXT: 0000000000001014 sp+32 c-32 c-24
// CFI-NEXT: 0000000000001018 x29+32 c-32 c-24
// CFI-NEXT: 000000000000101c sp+0 u u
// V3:      0x1010-0x1020  frame
// V3-NEXT:   16 bytes, addr1, 4 rows
// V3-NEXT:   START
// V3-NEXT:   0x1010 sp+0 same same
// V3-NEXT:   0x1014 sp+32 [cfa-24] [cfa-32]
// V3-NEXT:   0x1018 fp+32 [cfa-24] [cfa-32]
// V3-NEXT:   0x101c sp+0 same same
        .p2align 4
        .type frame, %function
frame:  .cfi_startproc
        stp x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        mov x29, sp
        .cfi_def_cfa_register 29
        ldp x29, x30, [sp], #32
        .cfi_restore 30
        .cfi_restore 29
        .cfi_def_cfa 31, 0
        ret
        .cfi_endproc
        .size frame, .-frame

// RA saved, FP not.
// CFI:      0000000000001020 sp+0 u
// CFI-NEXT: 0000000000001024 sp+16 c-16
// V3:      0x1020-0x1028  ra_only
// V3:        0x1020 sp+0 same same
// V3-NEXT:   0x1024 sp+16 [cfa-16] same
        .p2align 4
        .type ra_only, %function
ra_only:
        .cfi_startproc
        str x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 30, -16
        ret
        .cfi_endproc
        .size ra_only, .-ra_only

// FP saved, RA not: only a flexible function can represent it.
// CFI:      0000000000001030 sp+0 u
// CFI-NEXT: 0000000000001034 sp+16 c-16
// V3:      0x1030-0x1038  fp_only
// V3-NEXT:   8 bytes, addr1, flex, 2 rows
// V3-NEXT:   START
// V3-NEXT:   0x1030 sp+0 same same
// V3-NEXT:   0x1034 sp+16 same [cfa-16]
        .p2align 4
        .type fp_only, %function
fp_only:
        .cfi_startproc
        str x29, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 29, -16
        ret
        .cfi_endproc
        .size fp_only, .-fp_only

// Signed with the A key between paciasp and autiasp.
// CFI:      0000000000001040 sp+0
// CFI-NEXT: 0000000000001044 sp+0
// CFI-NEXT: 0000000000001048 sp+0
// V3:      0x1040-0x104c  signed
// V3:        0x1040 sp+0 same same
// V3-NEXT:   0x1044 sp+0 same signed same
// V3-NEXT:   0x1048 sp+0 same same
        .p2align 4
        .type signed, %function
signed: .cfi_startproc
        paciasp
        .cfi_negate_ra_state
        autiasp
        .cfi_negate_ra_state
        ret
        .cfi_endproc
        .size signed, .-signed

// V3:      0x1050-0x1058  b_key
// V3-NEXT:   8 bytes, addr1, 2 rows, key B
// V3-NEXT:   START
// V3-NEXT:   0x1050 sp+0 same same
// V3-NEXT:   0x1054 sp+0 same signed same
        .p2align 4
        .type b_key, %function
b_key:  .cfi_startproc
        .cfi_b_key_frame
        pacibsp
        .cfi_negate_ra_state
        ret
        .cfi_endproc
        .size b_key, .-b_key

// CFI:      0000000000001060 sp+0 r9 (x9)
// V3:      0x1060-0x1064  fp_in_register
// V3:        0x1060 sp+0 same r9
        .p2align 4
        .type fp_in_register, %function
fp_in_register:
        .cfi_startproc
        .cfi_register 29, 9
        ret
        .cfi_endproc
        .size fp_in_register, .-fp_in_register

// CFI:      0000000000001070 sp+0 r9 (x9)
// V3:      0x1070-0x1074  ra_in_register
// V3:        0x1070 sp+0 r9 same
        .p2align 4
        .type ra_in_register, %function
ra_in_register:
        .cfi_startproc
        .cfi_register 30, 9
        ret
        .cfi_endproc
        .size ra_in_register, .-ra_in_register

// CFI:      0000000000001080 x19+48 c-48 c-40
// V3:      0x1080-0x1084  third_register
// V3:        0x1080 r19+48 [cfa-40] [cfa-48]
        .p2align 4
        .type third_register, %function
third_register:
        .cfi_startproc
        .cfi_def_cfa 19, 48
        .cfi_offset 29, -48
        .cfi_offset 30, -40
        ret
        .cfi_endproc
        .size third_register, .-third_register

// CFI:      0000000000001090 exp
// V3:      0x1090-0x1094  stored_cfa
// V3:        0x1090 [fp-16] same same
        .p2align 4
        .type stored_cfa, %function
stored_cfa:
        .cfi_startproc
        .cfi_escape 0x0f, 3, 0x8d, 0x70, 0x06  // CFA: breg29-16, deref
        ret
        .cfi_endproc
        .size stored_cfa, .-stored_cfa

// CFI:      00000000000010a0 sp+0 u
// V3:      0x10a0-0x10a4  outermost
// V3:        0x10a0 outermost frame (RA undefined)
        .p2align 4
        .type outermost, %function
outermost:
        .cfi_startproc
        .cfi_undefined 30
        ret
        .cfi_endproc
        .size outermost, .-outermost

// V3:      0x10b0-0x10b4  handler
// V3-NEXT:   4 bytes, addr1, 1 row, signal frame
        .p2align 4
        .type handler, %function
handler:
        .cfi_startproc
        .cfi_signal_frame
        ret
        .cfi_endproc
        .size handler, .-handler

// Remembered states hold the CFA, the registers and the signing; they nest.
// CFI:      00000000000010c0 sp+0 u
// CFI-NEXT: 00000000000010c4 sp+16 c-16
// CFI-NEXT: 00000000000010c8 sp+32 c-24
// CFI-NEXT: 00000000000010cc sp+16 c-16
// CFI-NEXT: 00000000000010d0 sp+0 u
// V3:      0x10c0-0x10d4  nested
// V3:        0x10c0 sp+0 same same
// V3-NEXT:   0x10c4 sp+16 [cfa-16] signed same
// V3-NEXT:   0x10c8 sp+32 [cfa-24] same
// V3-NEXT:   0x10cc sp+16 [cfa-16] signed same
// V3-NEXT:   0x10d0 sp+0 same same
        .p2align 4
        .type nested, %function
nested: .cfi_startproc
        nop
        .cfi_remember_state
        .cfi_def_cfa_offset 16
        .cfi_offset 30, -16
        .cfi_negate_ra_state
        nop
        .cfi_remember_state
        .cfi_def_cfa_offset 32
        .cfi_offset 30, -24
        .cfi_negate_ra_state
        nop
        .cfi_restore_state
        nop
        .cfi_restore_state
        ret
        .cfi_endproc
        .size nested, .-nested

// CFI:      00000000000010e0 sp+0 r9 (x9)
// CFI-NEXT: 00000000000010e4 sp+0 u
// CFI-NEXT: 00000000000010e8 sp+0 u
// CFI-NEXT: 00000000000010ec sp+0 u
// V3:      0x10e0-0x10f0  ra_restored
// V3:        0x10e0 sp+0 r9 same
// V3-NEXT:   0x10e4 sp+0 same same
// V3-NEXT:   0x10e8 outermost
// V3-NEXT:   0x10ec sp+0 same same
        .p2align 4
        .type ra_restored, %function
ra_restored:
        .cfi_startproc
        .cfi_register 30, 9
        nop
        .cfi_restore 30
        nop
        .cfi_undefined 30
        nop
        .cfi_restore 30
        ret
        .cfi_endproc
        .size ra_restored, .-ra_restored

// CFI:      00000000000010f0 sp+0
// V3:      0x10f0-0x10f4  inexpressible
// V3:      0x10f8-0x10fc  inexpressible+0x8
        .p2align 4
        .type inexpressible, %function
inexpressible:
        .cfi_startproc
        nop
        .cfi_remember_state
        .cfi_escape 0x0f, 4, 0x8f, 8, 0x31, 0x27  // CFA: breg31+8, lit1, xor
        nop
        .cfi_restore_state
        ret
        .cfi_endproc
        .size inexpressible, .-inexpressible

// Callee-saved registers and vector registers have no meaning in SFrame.
// CFI:      0000000000001100 sp+0 u u u
// CFI-NEXT: 0000000000001104 sp+0 c-16 u c-32
// CFI-NEXT: 0000000000001108 sp+0 c-16 s c-32
// V3:      0x1100-0x110c  others
// V3-NEXT:   12 bytes, addr1, 1 row
        .p2align 4
        .type others, %function
others: .cfi_startproc
        nop
        .cfi_offset 19, -16
        .cfi_offset 72, -32
        nop
        .cfi_same_value 20
        ret
        .cfi_endproc
        .size others, .-others

// V3-NOT: ra_value
        .p2align 4
        .type ra_value, %function
ra_value:
        .cfi_startproc
        .cfi_escape 0x14, 30, 4  // RA: val_offset
        ret
        .cfi_endproc
        .size ra_value, .-ra_value

// V3-NOT: sp_moved
        .p2align 4
        .type sp_moved, %function
sp_moved:
        .cfi_startproc
        .cfi_offset 31, -16
        ret
        .cfi_endproc
        .size sp_moved, .-sp_moved

// Code alignment factors: an advance of 0x12000 bytes.
// CFI:      0000000000001130 sp+0
// CFI-NEXT: 0000000000013130 sp+1048576
// V3:      0x1130-0x13134  far_rows
// V3-NEXT:   73,732 bytes, addr4, 2 rows
// V3-NEXT:   START
// V3-NEXT:   0x1130 sp+0 same same
// V3-NEXT:   0x13130 sp+1048576 same same
        .p2align 4
        .type far_rows, %function
far_rows:
        .cfi_startproc
        .zero 0x12000
        .cfi_def_cfa_offset 1048576
        ret
        .cfi_endproc
        .size far_rows, .-far_rows

// CFI:      0000000000013140 sp+32 exp exp
// V3:      0x13140-0x13144  register_slots
// V3:        0x13140 sp+32 [r19+8] [r20-16]
        .p2align 4
        .type register_slots, %function
register_slots:
        .cfi_startproc
        .cfi_def_cfa_offset 32
        .cfi_escape 0x10, 30, 2, 0x83, 8  // RA: expression breg19+8
        .cfi_escape 0x10, 29, 2, 0x84, 0x70  // FP: expression breg20-16
        ret
        .cfi_endproc
        .size register_slots, .-register_slots

// REPORT: left out: cfa-expression 1, ra-val-offset 1, sp-rule 1

// Versions 2 and 1 lack flexible functions and signal frames, version 1 also outermost frames.
// RUN: sframe-gen %t.so -o %t.v2 --sframe-version=2 --report=json --report-file=%t.r2
// RUN: FileCheck %s --check-prefix=V12 < %t.r2
// RUN: sframe-gen %t.so -o %t.v1 --sframe-version=1 --report=json --report-file=%t.r1
// RUN: FileCheck %s --check-prefixes=V1,V12 < %t.r1
// RUN: sframe-gen %t.be.so -o %t.be.v2 --sframe-version=2 --report=json --report-file=%t.r2
// RUN: FileCheck %s --check-prefix=V12 < %t.r2
// RUN: sframe-verify --check=structure,cfi %t.v2
// RUN: sframe-verify --check=structure,cfi %t.v1
// RUN: sframe-verify --check=structure,cfi %t.be.v2
// V12: "left_out": [
// V12-NEXT: {"start": "0x1034", "size": 4, "name": "fp_only", "reason": "fp-rule"},
// V12-NEXT: {"start": "0x1060", "size": 4, "name": "fp_in_register", "reason": "fp-rule"},
// V12-NEXT: {"start": "0x1070", "size": 4, "name": "ra_in_register", "reason": "ra-rule"},
// V12-NEXT: {"start": "0x1080", "size": 4, "name": "third_register", "reason": "cfa-rule"},
// V12-NEXT: {"start": "0x1090", "size": 4, "name": "stored_cfa", "reason": "cfa-rule"},
// V1-NEXT:  {"start": "0x10a0", "size": 4, "name": "outermost", "reason": "outermost"},
// V12-NEXT: {"start": "0x10b0", "size": 4, "name": "handler", "reason": "signal-frame"},
// V12-NEXT: {"start": "0x10e0", "size": 4, "name": "ra_restored", "reason": "ra-rule"},
// V1-NEXT:  {"start": "0x10e8", "size": 4, "name": "ra_restored", "reason": "outermost"},
// V12-NEXT: {"start": "0x10f4", "size": 4, "name": "inexpressible", "reason": "cfa-expression"},
// V12-NEXT: {"start": "0x1110", "size": 4, "name": "ra_value", "reason": "ra-val-offset"},
// V12-NEXT: {"start": "0x1120", "size": 4, "name": "sp_moved", "reason": "sp-rule"},
// V12-NEXT: {"start": "0x13140", "size": 4, "name": "register_slots", "reason": "ra-rule"}],
