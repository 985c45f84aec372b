# Typical situations of compiled code, and what their CFI comes to; rows that no version can say are left out as ranges.

# RUN: llvm-mc -filetype=obj -triple=x86_64 %s -o %t.o
# RUN: ld.lld -shared --build-id=sha1 -Ttext=0x1000 %t.o -o %t.so
# RUN: sframe-gen %t.so -o %t.sframe --emit=section 2> %t.report
# RUN: sframe-dump %t.sframe | FileCheck %s
# RUN: FileCheck %s --check-prefix=REPORT < %t.report

# A leaf without a frame.
# CHECK:      [0] 0x1000-0x1001
# CHECK-NEXT:   1 byte, addr1, 1 row
# CHECK-NEXT:   START
# CHECK-NEXT:   0x1000 sp+8 fixed same
        .globl leaf, frame, realigned, unsayable, outermost, handler
        .type leaf, @function
leaf:   .cfi_startproc
        ret
        .cfi_endproc
        .size leaf, .-leaf

# push rbp (1 byte), mov (3 bytes), pop rbp.
# CHECK:      0x1010-0x1016
# CHECK:        0x1010 sp+8 fixed same
# CHECK-NEXT:   0x1011 sp+16 fixed [cfa-16]
# CHECK-NEXT:   0x1014 fp+16 fixed [cfa-16]
# CHECK-NEXT:   0x1015 sp+8 fixed same
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

# The CFA in r10, then stored in the frame: a flexible FDE. FP is stored where rbp points.
# CHECK:      0x1020-0x1022
# CHECK:        0x1020 r10+0 fixed same
# CHECK-NEXT:   0x1021 [fp-8] fixed [fp+0]
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

# Two bytes in the middle cannot be said: what is around them stays.
# CHECK:      0x1030-0x1031
# CHECK:        0x1030 sp+8 fixed same
# CHECK:      0x1033-0x1034
# CHECK:        0x1033 sp+8 fixed same
        .p2align 4
        .type unsayable, @function
unsayable:
        .cfi_startproc
        nop
        .cfi_escape 0x0f, 4, 0x77, 8, 0x31, 0x27 # CFA: breg7+8, lit1, xor
        nop
        nop
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size unsayable, .-unsayable

# CHECK:      0x1040-0x1041
# CHECK:        0x1040 outermost frame (RA undefined)
        .p2align 4
        .type outermost, @function
outermost:
        .cfi_startproc
        .cfi_undefined %rip
        hlt
        .cfi_endproc
        .size outermost, .-outermost

# CHECK:      0x1050-0x1051
# CHECK-NEXT:   1 byte, addr1, 1 row, signal frame
        .p2align 4
        .type handler, @function
handler:
        .cfi_startproc
        .cfi_signal_frame
        ret
        .cfi_endproc
        .size handler, .-handler
# CHECK-NOT:  {{\[[0-9]+\]}}

# REPORT: 86.66 % of 15 bytes of code covered
# REPORT: functions: 6 (5 whole, 1 in part, 0 left out)
# REPORT: left out: cfa-expression 1

# Versions 2 and 1 lack FLEX, signal frames and, the first, outermost frames.
# RUN: sframe-gen %t.so -o %t.v2 --emit=section --sframe-version=2 --report=json | FileCheck %s --check-prefix=V2
# RUN: sframe-gen %t.so -o %t.v1 --emit=section --sframe-version=1 --report=json | FileCheck %s --check-prefix=V1
# V2: "version": 2,
# V2: "functions": {"total": 6, "converted": 3, "partial": 1, "skipped": 2}
# V2: "reasons": {"cfa-expression": 1, "cfa-rule": 1, "signal-frame": 1},
# V2: "left_out": [
# V2-NEXT: {"start": "0x1020", "size": 2, "name": "realigned", "reason": "cfa-rule"},
# V2-NEXT: {"start": "0x1031", "size": 2, "name": "unsayable", "reason": "cfa-expression"},
# V2-NEXT: {"start": "0x1050", "size": 1, "name": "handler", "reason": "signal-frame"}],
# V1: "reasons": {"cfa-expression": 1, "cfa-rule": 1, "outermost": 1, "signal-frame": 1},
