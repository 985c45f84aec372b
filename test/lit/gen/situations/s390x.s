# Every DWARF situation on s390x and what each version represents of it. The rows in the CFI lines are those of
# readelf; the rows in the V3 lines must be equal; what a version cannot represent must be named in its report.

# RUN: llvm-mc -filetype=obj -triple=s390x-linux-gnu %s -o %t.o
# RUN: ld.lld -shared --build-id=sha1 -Ttext=0x1000 %t.o -o %t.so
# RUN: readelf --debug-dump=frames-interp %t.so | FileCheck %s --check-prefix=CFI
# RUN: sframe-gen %t.so -o %t.v3 2> %t.report
# RUN: sframe-dump %t.v3 | FileCheck %s --check-prefix=V3
# RUN: FileCheck %s --check-prefix=REPORT < %t.report
# RUN: sframe-verify --check=structure,cfi %t.v3

        .globl leaf, frame, ra_only, fp_only, ra_in_fpr, fp_in_fpr, third_register, stored_cfa, odd_cfa, outermost
        .globl handler, nested, ra_restored, inexpressible, others, fp_value, sp_moved, large, register_slots, go, sp_and_stored

# V3:      0x1000-0x1002  leaf
# V3:        0x1000 sp+160 same same
        .type leaf, @function
leaf:   .cfi_startproc
        br %r14
        .cfi_endproc
        .size leaf, .-leaf

# The caller's SP is saved too; it is CFA - 160 whatever the slot holds.
# CFI:      0000000000001010 r15+160 u u u
# CFI-NEXT: 0000000000001016 r15+160 c-72 c-48 c-40
# CFI-NEXT: 000000000000101a r15+336 c-72 c-48 c-40
# CFI-NEXT: 000000000000101e r11+336 c-72 c-48 c-40
# CFI-NEXT: 0000000000001024 r15+160 u u u
# V3:      0x1010-0x1026  frame
# V3-NEXT:   22 bytes, addr1, 5 rows
# V3-NEXT:   START
# V3-NEXT:   0x1010 sp+160 same same
# V3-NEXT:   0x1016 sp+160 [cfa-48] [cfa-72]
# V3-NEXT:   0x101a sp+336 [cfa-48] [cfa-72]
# V3-NEXT:   0x101e fp+336 [cfa-48] [cfa-72]
# V3-NEXT:   0x1024 sp+160 same same
        .p2align 4
        .type frame, @function
frame:  .cfi_startproc
        stmg %r11, %r15, 88(%r15)
        .cfi_offset %r11, -72
        .cfi_offset %r14, -48
        .cfi_offset %r15, -40
        aghi %r15, -176
        .cfi_def_cfa_offset 336
        lgr %r11, %r15
        .cfi_def_cfa_register %r11
        lmg %r11, %r15, 264(%r11)
        .cfi_restore %r15
        .cfi_restore %r14
        .cfi_restore %r11
        .cfi_def_cfa %r15, 160
        br %r14
        .cfi_endproc
        .size frame, .-frame

# CFI:      0000000000001030 r15+160 u
# CFI-NEXT: 0000000000001036 r15+160 c-48
# V3:      0x1030-0x1038  ra_only
# V3:        0x1036 sp+160 [cfa-48] same
        .p2align 4
        .type ra_only, @function
ra_only:
        .cfi_startproc
        stg %r14, 112(%r15)
        .cfi_offset %r14, -48
        br %r14
        .cfi_endproc
        .size ra_only, .-ra_only

# FP saved, RA not: words CFA, 0, FP.
# CFI:      0000000000001040 r15+160 u
# CFI-NEXT: 0000000000001046 r15+160 c-72
# V3:      0x1040-0x1048  fp_only
# V3-NEXT:   8 bytes, addr1, 2 rows
# V3-NEXT:   START
# V3-NEXT:   0x1040 sp+160 same same
# V3-NEXT:   0x1046 sp+160 same [cfa-72]
        .p2align 4
        .type fp_only, @function
fp_only:
        .cfi_startproc
        stg %r11, 88(%r15)
        .cfi_offset %r11, -72
        br %r14
        .cfi_endproc
        .size fp_only, .-fp_only

# Leaf functions keep RA and FP in floating-point registers: f0 is 16, f2 is 17.
# CFI:      0000000000001050 r15+160 u
# CFI-NEXT: 0000000000001054 r15+160 r16 (f0)
# V3:      0x1050-0x1056  ra_in_fpr
# V3:        0x1054 sp+160 r16 same
        .p2align 4
        .type ra_in_fpr, @function
ra_in_fpr:
        .cfi_startproc
        ldgr %f0, %r14
        .cfi_register %r14, %f0
        br %r14
        .cfi_endproc
        .size ra_in_fpr, .-ra_in_fpr

# CFI:      0000000000001060 r15+160 u u
# CFI-NEXT: 0000000000001064 r15+160 r17 (f2) u
# CFI-NEXT: 0000000000001068 r15+160 r17 (f2) r16 (f0)
# V3:      0x1060-0x106a  fp_in_fpr
# V3:        0x1064 sp+160 same r17
# V3-NEXT:   0x1068 sp+160 r16 r17
        .p2align 4
        .type fp_in_fpr, @function
fp_in_fpr:
        .cfi_startproc
        ldgr %f2, %r11
        .cfi_register %r11, %f2
        ldgr %f0, %r14
        .cfi_register %r14, %f0
        br %r14
        .cfi_endproc
        .size fp_in_fpr, .-fp_in_fpr

# CFI:      0000000000001070 r12+160
# V3:      0x1070-0x1072  third_register
# V3-NEXT:   2 bytes, addr1, flex, 1 row
# V3-NEXT:   START
# V3-NEXT:   0x1070 r12+160 same same
        .p2align 4
        .type third_register, @function
third_register:
        .cfi_startproc
        .cfi_def_cfa %r12, 160
        br %r14
        .cfi_endproc
        .size third_register, .-third_register

# CFI:      0000000000001080 exp
# V3:      0x1080-0x1082  stored_cfa
# V3:        0x1080 [fp-16] same same
        .p2align 4
        .type stored_cfa, @function
stored_cfa:
        .cfi_startproc
        .cfi_escape 0x0f, 3, 0x7b, 0x70, 0x06    # CFA: breg11-16, deref
        br %r14
        .cfi_endproc
        .size stored_cfa, .-stored_cfa

# Offsets of the CFA must be multiples of 8.
# V3-NOT:  odd_cfa
        .p2align 4
        .type odd_cfa, @function
odd_cfa:
        .cfi_startproc
        .cfi_def_cfa_offset 164
        br %r14
        .cfi_endproc
        .size odd_cfa, .-odd_cfa

# CFI:      00000000000010a0 r15+160 u
# V3:      0x10a0-0x10a2  outermost
# V3:        0x10a0 outermost frame (RA undefined)
        .p2align 4
        .type outermost, @function
outermost:
        .cfi_startproc
        .cfi_undefined %r14
        br %r14
        .cfi_endproc
        .size outermost, .-outermost

# V3:      0x10b0-0x10b2  handler
# V3-NEXT:   2 bytes, addr1, 1 row, signal frame
        .p2align 4
        .type handler, @function
handler:
        .cfi_startproc
        .cfi_signal_frame
        br %r14
        .cfi_endproc
        .size handler, .-handler

# CFI:      00000000000010c0 r15+160 u
# CFI-NEXT: 00000000000010c2 r15+320 c-48
# CFI-NEXT: 00000000000010c4 r15+480 c-56
# CFI-NEXT: 00000000000010c6 r15+320 c-48
# CFI-NEXT: 00000000000010c8 r15+160 u
# V3:      0x10c0-0x10ca  nested
# V3:        0x10c0 sp+160 same same
# V3-NEXT:   0x10c2 sp+320 [cfa-48] same
# V3-NEXT:   0x10c4 sp+480 [cfa-56] same
# V3-NEXT:   0x10c6 sp+320 [cfa-48] same
# V3-NEXT:   0x10c8 sp+160 same same
        .p2align 4
        .type nested, @function
nested: .cfi_startproc
        nopr %r0
        .cfi_remember_state
        .cfi_def_cfa_offset 320
        .cfi_offset %r14, -48
        nopr %r0
        .cfi_remember_state
        .cfi_def_cfa_offset 480
        .cfi_offset %r14, -56
        nopr %r0
        .cfi_restore_state
        nopr %r0
        .cfi_restore_state
        br %r14
        .cfi_endproc
        .size nested, .-nested

# CFI:      00000000000010d0 r15+160 r16 (f0)
# CFI-NEXT: 00000000000010d2 r15+160 u
# CFI-NEXT: 00000000000010d4 r15+160 u
# CFI-NEXT: 00000000000010d6 r15+160 u
# V3:      0x10d0-0x10d8  ra_restored
# V3:        0x10d0 sp+160 r16 same
# V3-NEXT:   0x10d2 sp+160 same same
# V3-NEXT:   0x10d4 outermost
# V3-NEXT:   0x10d6 sp+160 same same
        .p2align 4
        .type ra_restored, @function
ra_restored:
        .cfi_startproc
        .cfi_register %r14, %f0
        nopr %r0
        .cfi_restore %r14
        nopr %r0
        .cfi_undefined %r14
        nopr %r0
        .cfi_restore %r14
        br %r14
        .cfi_endproc
        .size ra_restored, .-ra_restored

# CFI:      00000000000010e0 r15+160
# V3:      0x10e0-0x10e2  inexpressible
# V3:      0x10e4-0x10e6  inexpressible+0x4
        .p2align 4
        .type inexpressible, @function
inexpressible:
        .cfi_startproc
        nopr %r0
        .cfi_remember_state
        .cfi_escape 0x0f, 4, 0x7f, 8, 0x31, 0x27 # CFA: breg15+8, lit1, xor
        nopr %r0
        .cfi_restore_state
        br %r14
        .cfi_endproc
        .size inexpressible, .-inexpressible

# CFI:      00000000000010f0 r15+160 u u
# CFI-NEXT: 00000000000010f2 r15+160 c-112 c-168
# V3:      0x10f0-0x10f4  others
# V3-NEXT:   4 bytes, addr1, 1 row
        .p2align 4
        .type others, @function
others: .cfi_startproc
        nopr %r0
        .cfi_offset %r6, -112
        .cfi_offset %f8, -168
        br %r14
        .cfi_endproc
        .size others, .-others

# V3-NOT:  fp_value
        .p2align 4
        .type fp_value, @function
fp_value:
        .cfi_startproc
        .cfi_escape 0x14, 11, 4                  # FP: val_offset -32
        br %r14
        .cfi_endproc
        .size fp_value, .-fp_value

# Everyone who applies a row takes SP = CFA - 160. Where the CFI puts SP elsewhere, the row has the CFA 160 bytes above that.
# CFI:      0000000000001110 r15+160 v-152
# V3:      0x1110-0x1112  sp_moved
# V3-NEXT:   2 bytes, addr1, 1 row
# V3-NEXT:   START
# V3-NEXT:   0x1110 sp+168 same same
        .p2align 4
        .type sp_moved, @function
sp_moved:
        .cfi_startproc
        .cfi_escape 0x14, 15, 19                 # SP: val_offset -152
        br %r14
        .cfi_endproc
        .size sp_moved, .-sp_moved

# A far row, and a frame that needs 32-bit words.
# CFI:      0000000000001120 r15+160 u
# CFI-NEXT: 0000000000013120 r15+1048576 c-48
# V3:      0x1120-0x13122  large
# V3-NEXT:   73,730 bytes, addr4, 2 rows
# V3-NEXT:   START
# V3-NEXT:   0x1120 sp+160 same same
# V3-NEXT:   0x13120 sp+1048576 [cfa-48] same
        .p2align 4
        .type large, @function
large:  .cfi_startproc
        .zero 0x12000
        .cfi_def_cfa_offset 1048576
        .cfi_offset %r14, -48
        br %r14
        .cfi_endproc
        .size large, .-large

# CFI:      0000000000013130 r15+160 exp exp
# V3:      0x13130-0x13132  register_slots
# V3:        0x13130 sp+160 [r12-16] [r13+8]
        .p2align 4
        .type register_slots, @function
register_slots:
        .cfi_startproc
        .cfi_escape 0x10, 14, 2, 0x7c, 0x70      # RA: expression breg12-16
        .cfi_escape 0x10, 11, 2, 0x7d, 8         # FP: expression breg13+8
        br %r14
        .cfi_endproc
        .size register_slots, .-register_slots

# Go: SP = CFA, and RA at the bottom of the frame.
# CFI:      0000000000013140 r15+0 u u v+0
# CFI-NEXT: 0000000000013146 r15+96 u c-96 v+0
# CFI-NEXT: 000000000001314c r11+96 c-32 c-96 v+0
# V3:      0x13140-0x1314e  go
# V3:        0x13140 sp+160 same same
# V3-NEXT:   0x13146 sp+256 [cfa-256] same
# V3-NEXT:   0x1314c fp+256 [cfa-256] [cfa-192]
        .p2align 4
        .type go, @function
go:     .cfi_startproc
        .cfi_def_cfa %r15, 0
        .cfi_escape 0x14, 15, 0                  # SP: val_offset 0
        stmg %r14, %r15, -96(%r15)
        .cfi_def_cfa_offset 96
        .cfi_offset %r14, -96
        lay %r15, -96(%r15)
        .cfi_def_cfa_register %r11
        .cfi_offset %r11, -32
        br %r14
        .cfi_endproc
        .size go, .-go

# The CFA is a word in memory: there is no place for the difference.
# V3-NOT:  sp_and_stored
        .p2align 4
        .type sp_and_stored, @function
sp_and_stored:
        .cfi_startproc
        .cfi_escape 0x0f, 3, 0x7f, 40, 0x06      # CFA: breg15+40, deref
        .cfi_escape 0x14, 15, 0                  # SP: val_offset 0
        br %r14
        .cfi_endproc
        .size sp_and_stored, .-sp_and_stored

# REPORT: left out: cfa-alignment 1, cfa-expression 1, fp-val-offset 1, sp-rule 1

# Version 2 has words that name registers, but no flexible functions and no signal frames; version 1, which no
# producer writes for s390x, has neither such words nor outermost frames.
# RUN: sframe-gen %t.so -o %t.v2 --sframe-version=2 --report=json --report-file=%t.r2
# RUN: FileCheck %s --check-prefix=V12 < %t.r2
# RUN: sframe-gen %t.so -o %t.v1 --sframe-version=1 --report=json --report-file=%t.r1
# RUN: FileCheck %s --check-prefixes=V1,V12 < %t.r1
# RUN: sframe-verify --check=structure,cfi %t.v2
# RUN: sframe-verify --check=structure,cfi %t.v1
# V12: "left_out": [
# V1-NEXT:  {"start": "0x1054", "size": 2, "name": "ra_in_fpr", "reason": "ra-rule"},
# V1-NEXT:  {"start": "0x1064", "size": 4, "name": "fp_in_fpr", "reason": "fp-rule"},
# V1-NEXT:  {"start": "0x1068", "size": 2, "name": "fp_in_fpr", "reason": "ra-rule"},
# V12-NEXT: {"start": "0x1070", "size": 2, "name": "third_register", "reason": "cfa-rule"},
# V12-NEXT: {"start": "0x1080", "size": 2, "name": "stored_cfa", "reason": "cfa-rule"},
# V12-NEXT: {"start": "0x1090", "size": 2, "name": "odd_cfa", "reason": "cfa-alignment"},
# V1-NEXT:  {"start": "0x10a0", "size": 2, "name": "outermost", "reason": "outermost"},
# V12-NEXT: {"start": "0x10b0", "size": 2, "name": "handler", "reason": "signal-frame"},
# V1-NEXT:  {"start": "0x10d0", "size": 2, "name": "ra_restored", "reason": "ra-rule"},
# V1-NEXT:  {"start": "0x10d4", "size": 2, "name": "ra_restored", "reason": "outermost"},
# V12-NEXT: {"start": "0x10e2", "size": 2, "name": "inexpressible", "reason": "cfa-expression"},
# V12-NEXT: {"start": "0x1100", "size": 2, "name": "fp_value", "reason": "fp-val-offset"},
# V12-NEXT: {"start": "0x13130", "size": 2, "name": "register_slots", "reason": "ra-rule"},
# V12-NEXT: {"start": "0x13150", "size": 2, "name": "sp_and_stored", "reason": "sp-rule"}],
