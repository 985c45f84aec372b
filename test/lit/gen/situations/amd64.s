# Every DWARF situation on AMD64 and what each version represents of it. The rows in the CFI lines are those of
# readelf; the rows in the V3 lines must be equal; what a version cannot represent must be named in its report.

# RUN: llvm-mc -filetype=obj -triple=x86_64 %s -o %t.o
# RUN: ld.lld -shared --build-id=sha1 -Ttext=0x1000 %t.o -o %t.so
# RUN: readelf --debug-dump=frames-interp %t.so | FileCheck %s --check-prefix=CFI
# RUN: sframe-gen %t.so -o %t.v3 2> %t.report
# RUN: sframe-dump %t.v3 | FileCheck %s --check-prefix=V3
# RUN: FileCheck %s --check-prefix=REPORT < %t.report
# RUN: sframe-verify --check=structure,cfi %t.v3

# What SP and FP can represent.
# V3:      0x1000-0x1001  leaf
# V3-NEXT:   1 byte, addr1, 1 row
# V3-NEXT:   START
# V3-NEXT:   0x1000 sp+8 fixed same
        .globl leaf, frame, third_register, realigned, register_slots, inexpressible, outermost, handler, nested
        .globl one_address, restored, ra_elsewhere, ra_in_register, rbp_in_register, rbp_value, rbp_val_offset
        .globl ra_val_offset, ra_expression, sp_moved, others, zero_rows, far_rows, late_outermost, ra_same
        .type leaf, @function
leaf:   .cfi_startproc
        ret
        .cfi_endproc
        .size leaf, .-leaf

# push rbp (1 byte), mov (3 bytes), pop rbp.
# CFI:      0000000000001010 rsp+8 u c-8
# CFI-NEXT: 0000000000001011 rsp+16 c-16 c-8
# CFI-NEXT: 0000000000001014 rbp+16 c-16 c-8
# CFI-NEXT: 0000000000001015 rsp+8 u c-8
# V3:      0x1010-0x1016  frame
# V3:        0x1010 sp+8 fixed same
# V3-NEXT:   0x1011 sp+16 fixed [cfa-16]
# V3-NEXT:   0x1014 fp+16 fixed [cfa-16]
# V3-NEXT:   0x1015 sp+8 fixed same
        .p2align 4
        .type frame, @function
frame:  .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        popq %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size frame, .-frame

# CFA from another register: flexible.
# CFI:      0000000000001020 r10+0 c-8
# CFI-NEXT: 0000000000001021 rbx+16 c-8
# V3:      0x1020-0x1022  third_register
# V3-NEXT:   2 bytes, addr1, flex, 2 rows
# V3-NEXT:   START
# V3-NEXT:   0x1020 r10+0 fixed same
# V3-NEXT:   0x1021 r3+16 fixed same
        .p2align 4
        .type third_register, @function
third_register:
        .cfi_startproc
        .cfi_def_cfa %r10, 0
        nop
        .cfi_def_cfa %rbx, 16
        ret
        .cfi_endproc
        .size third_register, .-third_register

# DRAP: the CFA in r10, then stored in the frame. FP is stored where rbp points.
# CFI:      0000000000001030 r10+0 u c-8
# CFI-NEXT: 0000000000001031 exp exp c-8
# V3:      0x1030-0x1032  realigned
# V3:        0x1030 r10+0 fixed same
# V3-NEXT:   0x1031 [fp-8] fixed [fp+0]
        .p2align 4
        .type realigned, @function
realigned:
        .cfi_startproc
        .cfi_def_cfa %r10, 0
        nop
        .cfi_escape 0x10, 6, 2, 0x76, 0          # FP: expression breg6+0
        .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06    # CFA: breg6-8, deref
        ret
        .cfi_endproc
        .size realigned, .-realigned

# RA and FP stored relative to a register.
# CFI:      0000000000001040 rsp+8 exp exp
# V3:      0x1040-0x1041  register_slots
# V3:        0x1040 sp+8 [r3-16] [r3+8]
        .p2align 4
        .type register_slots, @function
register_slots:
        .cfi_startproc
        .cfi_escape 0x10, 6, 2, 0x73, 8          # FP: expression breg3+8
        .cfi_escape 0x10, 16, 2, 0x73, 0x70      # RA: expression breg3-16
        ret
        .cfi_endproc
        .size register_slots, .-register_slots

# Two bytes in the middle cannot be represented: what is around them stays.
# CFI:      0000000000001051 exp c-8
# V3:      0x1050-0x1051  inexpressible
# V3:        0x1050 sp+8 fixed same
# V3:      0x1053-0x1054  inexpressible+0x3
# V3:        0x1053 sp+8 fixed same
        .p2align 4
        .type inexpressible, @function
inexpressible:
        .cfi_startproc
        nop
        .cfi_escape 0x0f, 4, 0x77, 8, 0x31, 0x27 # CFA: breg7+8, lit1, xor
        nop
        nop
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size inexpressible, .-inexpressible

# CFI:      0000000000001060 rsp+8 u
# V3:      0x1060-0x1061  outermost
# V3:        0x1060 outermost frame (RA undefined)
        .p2align 4
        .type outermost, @function
outermost:
        .cfi_startproc
        .cfi_undefined %rip
        hlt
        .cfi_endproc
        .size outermost, .-outermost

# V3:      0x1070-0x1071  handler
# V3-NEXT:   1 byte, addr1, 1 row, signal frame
        .p2align 4
        .type handler, @function
handler:
        .cfi_startproc
        .cfi_signal_frame
        ret
        .cfi_endproc
        .size handler, .-handler

# Remembered states nest: the second restore brings back the first remembered.
# CFI:      0000000000001080 rsp+8 c-8
# CFI-NEXT: 0000000000001081 rsp+16 c-8
# CFI-NEXT: 0000000000001082 rsp+24 c-8
# CFI-NEXT: 0000000000001083 rsp+16 c-8
# CFI-NEXT: 0000000000001084 rsp+8 c-8
# V3:      0x1080-0x1085  nested
# V3:        0x1080 sp+8
# V3-NEXT:   0x1081 sp+16
# V3-NEXT:   0x1082 sp+24
# V3-NEXT:   0x1083 sp+16
# V3-NEXT:   0x1084 sp+8
        .p2align 4
        .type nested, @function
nested: .cfi_startproc
        nop
        .cfi_remember_state
        .cfi_def_cfa_offset 16
        nop
        .cfi_remember_state
        .cfi_def_cfa_offset 24
        nop
        .cfi_restore_state
        nop
        .cfi_restore_state
        ret
        .cfi_endproc
        .size nested, .-nested

# Offset and register changed at one address, in both orders.
# CFI:      0000000000001091 rbp+32 c-8
# CFI-NEXT: 0000000000001092 rsp+8 c-8
# V3:      0x1090-0x1093  one_address
# V3:        0x1090 sp+8
# V3-NEXT:   0x1091 fp+32
# V3-NEXT:   0x1092 sp+8
        .p2align 4
        .type one_address, @function
one_address:
        .cfi_startproc
        nop
        .cfi_def_cfa_offset 32
        .cfi_def_cfa_register %rbp
        nop
        .cfi_def_cfa_register %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size one_address, .-one_address

# RA restored after a register rule, and after undefined.
# CFI:      00000000000010a0 rsp+8 r5 (rdi)
# CFI-NEXT: 00000000000010a1 rsp+8 c-8
# CFI-NEXT: 00000000000010a2 rsp+8 u
# CFI-NEXT: 00000000000010a3 rsp+8 c-8
# V3:        0x10a0 sp+8 r5 same
# V3-NEXT:   0x10a1 sp+8 fixed same
# V3-NEXT:   0x10a2 outermost
# V3-NEXT:   0x10a3 sp+8 fixed same
        .p2align 4
        .type restored, @function
restored:
        .cfi_startproc
        .cfi_register %rip, %rdi
        nop
        .cfi_restore %rip
        nop
        .cfi_undefined %rip
        nop
        .cfi_restore %rip
        ret
        .cfi_endproc
        .size restored, .-restored

# CFI:      00000000000010b0 rsp+16 c-16
# V3:      0x10b0-0x10b1  ra_elsewhere
# V3:        0x10b0 sp+16 [cfa-16] same
        .p2align 4
        .type ra_elsewhere, @function
ra_elsewhere:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        .cfi_offset %rip, -16
        ret
        .cfi_endproc
        .size ra_elsewhere, .-ra_elsewhere

# CFI:      00000000000010c0 rsp+0 r11 (r11)
# V3:        0x10c0 sp+0 r11 same
        .p2align 4
        .type ra_in_register, @function
ra_in_register:
        .cfi_startproc
        .cfi_def_cfa_offset 0
        .cfi_register %rip, %r11
        ret
        .cfi_endproc
        .size ra_in_register, .-ra_in_register

# CFI:      00000000000010d0 rsp+8 r3 (rbx) c-8
# V3:        0x10d0 sp+8 fixed r3
        .p2align 4
        .type rbp_in_register, @function
rbp_in_register:
        .cfi_startproc
        .cfi_register %rbp, %rbx
        ret
        .cfi_endproc
        .size rbp_in_register, .-rbp_in_register

# A value expression for FP names no register and no place; neither does val_offset, for FP or RA.
# CFI:      00000000000010e0 rsp+8 vexp c-8
# V3-NOT:  rbp_value
        .p2align 4
        .type rbp_value, @function
rbp_value:
        .cfi_startproc
        .cfi_escape 0x16, 6, 4, 0x73, 8, 0x31, 0x24
        ret
        .cfi_endproc
        .size rbp_value, .-rbp_value

# CFI:      00000000000010f0 rsp+8 v-32 c-8
# V3-NOT:  rbp_val_offset
        .p2align 4
        .type rbp_val_offset, @function
rbp_val_offset:
        .cfi_startproc
        .cfi_escape 0x14, 6, 4                    # FP: val_offset -32
        ret
        .cfi_endproc
        .size rbp_val_offset, .-rbp_val_offset

# CFI:      0000000000001100 rsp+8 v-32
# V3-NOT:  ra_val_offset
        .p2align 4
        .type ra_val_offset, @function
ra_val_offset:
        .cfi_startproc
        .cfi_escape 0x14, 16, 4                   # RA: val_offset -32
        ret
        .cfi_endproc
        .size ra_val_offset, .-ra_val_offset

# An RA that needs two loads cannot be represented.
# CFI:      0000000000001110 rsp+8 exp
# V3-NOT:  ra_expression
        .p2align 4
        .type ra_expression, @function
ra_expression:
        .cfi_startproc
        .cfi_escape 0x10, 16, 3, 0x73, 8, 0x06
        ret
        .cfi_endproc
        .size ra_expression, .-ra_expression

# The caller's SP is always the CFA; CFI with another rule is not repeated, CFI with this rule is.
# CFI:      0000000000001120 rsp+8 v-8 c-8
# CFI-NEXT: 0000000000001121 rsp+8 v+0 c-8
# V3:      0x1121-0x1122  sp_moved+0x1
# V3:        0x1121 sp+8 fixed same
        .p2align 4
        .type sp_moved, @function
sp_moved:
        .cfi_startproc
        .cfi_escape 0x14, 7, 1                    # SP: val_offset -8
        nop
        .cfi_escape 0x14, 7, 0
        ret
        .cfi_endproc
        .size sp_moved, .-sp_moved

# Rules for other registers, and args_size, have no meaning in SFrame: rows that differ in nothing else are one.
# V3:      0x1130-0x1134  others
# V3-NEXT:   4 bytes, addr1, 1 row
# V3-NEXT:   START
# V3-NEXT:   0x1130 sp+8 fixed same
        .p2align 4
        .type others, @function
others: .cfi_startproc
        nop
        .cfi_offset %rbx, -24
        nop
        .cfi_same_value %r12
        .cfi_undefined %r13
        .cfi_register %r14, %r15
        nop
        .cfi_escape 0x2e, 0x10
        ret
        .cfi_endproc
        .size others, .-others

# Changes without an address between them: the last one counts, no row of size 0.
# CFI:      0000000000001141 rsp+24 c-8
# V3:      0x1140-0x1142  zero_rows
# V3-NEXT:   2 bytes, addr1, 2 rows
# V3-NEXT:   START
# V3-NEXT:   0x1140 sp+8
# V3-NEXT:   0x1141 sp+24
        .p2align 4
        .type zero_rows, @function
zero_rows:
        .cfi_startproc
        nop
        .cfi_def_cfa_offset 16
        .cfi_def_cfa_offset 24
        ret
        .cfi_endproc
        .size zero_rows, .-zero_rows

# Advances of 1, 2 and 4 bytes; an offset that needs 32 bits.
# CFI:      0000000000001150 rsp+8 c-8
# CFI-NEXT: 0000000000001214 rsp+16 c-8
# CFI-NEXT: 000000000000133c rsp+33554432 c-8
# CFI-NEXT: 0000000000012a78 rsp+8 c-8
# V3:      0x1150-0x12a79  far_rows
# V3-NEXT:   71,977 bytes, addr4, 4 rows
# V3-NEXT:   START
# V3-NEXT:   0x1150 sp+8
# V3-NEXT:   0x1214 sp+16
# V3-NEXT:   0x133c sp+33554432
# V3-NEXT:   0x12a78 sp+8
        .p2align 4
        .type far_rows, @function
far_rows:
        .cfi_startproc
        .zero 196, 0x90
        .cfi_def_cfa_offset 16
        .zero 296, 0x90
        .cfi_def_cfa_offset 33554432
        .zero 70460, 0x90
        .zero 1024, 0x90
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size far_rows, .-far_rows

# Outermost from the middle on.
# V3:      late_outermost
# V3:        sp+8 fixed same
# V3-NEXT:   outermost
        .p2align 4
        .type late_outermost, @function
late_outermost:
        .cfi_startproc
        nop
        .cfi_undefined %rip
        hlt
        .cfi_endproc
        .size late_outermost, .-late_outermost

# "Same value" for RA means that it is in the RA register, which AMD64 does not have.
# V3-NOT:  ra_same
        .type ra_same, @function
ra_same:
        .cfi_startproc
        .cfi_same_value %rip
        ret
        .cfi_endproc
        .size ra_same, .-ra_same

# REPORT: left out: cfa-expression 1, fp-expression 1, fp-val-offset 1, ra-expression 1, ra-unsaved 1, ra-val-offset 1, sp-rule 1

# Versions 2 and 1 lack flexible functions and signal frames, version 1 also outermost frames.
# RUN: sframe-gen %t.so -o %t.v2 --sframe-version=2 --report=json --report-file=%t.r2
# RUN: FileCheck %s --check-prefix=V12 < %t.r2
# RUN: sframe-gen %t.so -o %t.v1 --sframe-version=1 --report=json --report-file=%t.r1
# RUN: FileCheck %s --check-prefixes=V1,V12 < %t.r1
# RUN: sframe-verify --check=structure,cfi %t.v2
# RUN: sframe-verify --check=structure,cfi %t.v1
# V12: "left_out": [
# V12-NEXT: {"start": "0x1020", "size": 2, "name": "third_register", "reason": "cfa-rule"},
# V12-NEXT: {"start": "0x1030", "size": 2, "name": "realigned", "reason": "cfa-rule"},
# V12-NEXT: {"start": "0x1040", "size": 1, "name": "register_slots", "reason": "ra-rule"},
# V12-NEXT: {"start": "0x1051", "size": 2, "name": "inexpressible", "reason": "cfa-expression"},
# V1-NEXT:  {"start": "0x1060", "size": 1, "name": "outermost", "reason": "outermost"},
# V12-NEXT: {"start": "0x1070", "size": 1, "name": "handler", "reason": "signal-frame"},
# V12-NEXT: {"start": "0x10a0", "size": 1, "name": "restored", "reason": "ra-rule"},
# V1-NEXT:  {"start": "0x10a2", "size": 1, "name": "restored", "reason": "outermost"},
# V12-NEXT: {"start": "0x10b0", "size": 1, "name": "ra_elsewhere", "reason": "ra-rule"},
# V12-NEXT: {"start": "0x10c0", "size": 1, "name": "ra_in_register", "reason": "ra-rule"},
# V12-NEXT: {"start": "0x10d0", "size": 1, "name": "rbp_in_register", "reason": "fp-rule"},
# V12-NEXT: {{.*}}"rbp_value", "reason": "fp-expression"
# V12-NEXT: {{.*}}"rbp_val_offset", "reason": "fp-val-offset"
# V12-NEXT: {{.*}}"ra_val_offset", "reason": "ra-val-offset"
# V12-NEXT: {{.*}}"ra_expression", "reason": "ra-expression"
# V12-NEXT: {{.*}}"sp_moved", "reason": "sp-rule"
# V1-NEXT:  {"start": "0x12a81", "size": 1, "name": "late_outermost", "reason": "outermost"},
# V12-NEXT: {{.*}}"ra_same", "reason": "ra-unsaved"}],
