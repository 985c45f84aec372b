# The CFA of `outer` is rbx + 16, and `inner`, which it calls, saves rbx and uses it otherwise. SFrame can represent the first (in a
# flexible FDE) but not where `inner` saved rbx.
    .text
    .globl main, outer, inner
    .type main, @function
main:
    .cfi_startproc
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    call outer
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size main, . - main

    .type outer, @function
outer:
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    movq %rsp, %rbx
    .cfi_def_cfa_register %rbx
    subq $64, %rsp
    andq $-32, %rsp
    call inner
    movq %rbx, %rsp
    .cfi_def_cfa_register %rsp
    popq %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size outer, . - outer

    .type inner, @function
inner:
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    xorl %ebx, %ebx
    call abort@plt
    nop
    .cfi_endproc
    .size inner, . - inner
    .section .note.GNU-stack, "", @progbits
