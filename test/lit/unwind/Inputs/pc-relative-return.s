  .text
  .p2align 4
  .globl work
  .type work, @function
work:
  .cfi_startproc
  sub $24, %rsp
  .cfi_def_cfa_offset 32
  jmp stub
  add $24, %rsp # work + 6
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size work, . - work
  .p2align 4
  .type stub, @function
stub: # work + 16
  .cfi_startproc
  .cfi_def_cfa rsp, 0
  nop
  .cfi_escape 0x16, 16, 2, 0x80, 0x70 # DW_CFA_val_expression rip: DW_OP_breg16 -16
  call die
  jmp work + 6 # stub + 6
  .cfi_endproc
  .size stub, . - stub
  .section .note.GNU-stack, "", @progbits
