// A prologue that LLVM has outlined: the call saves FP and LR, and sets FP. It has no CFI.
        .text
        .globl _start
_start:
        hlt     #0

        .type   outlined,@function
outlined:
        stp     x29, x16, [sp, #-16]!
        mov     x29, sp
        ret
        .size   outlined, . - outlined

        .type   r504,@function
r504:
        .cfi_startproc
        mov     x16, x30
        bl      outlined
        .cfi_def_cfa w29, 16
        .cfi_offset w30, -8
        .cfi_offset w29, -16
        nop
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa wsp, 0
        .cfi_restore w30
        .cfi_restore w29
        ret
        .cfi_endproc
        .size   r504, . - r504
