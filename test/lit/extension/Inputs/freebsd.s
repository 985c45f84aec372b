# A leaf function, a frame by SP, a frame by FP, and the outermost frame. make-freebsd-core.py makes a core of it.
  .globl _start, outer, middle, leaf
  .text
  .type leaf, @function
leaf:
  .cfi_startproc
  movl $0, 0
  ret
  .cfi_endproc
  .size leaf, . - leaf

  .type middle, @function
middle:
  .cfi_startproc
  subq $24, %rsp
  .cfi_def_cfa_offset 32
  callq leaf
middle_return:
  addq $24, %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size middle, . - middle

  .type outer, @function
outer:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $64, %rsp
  callq middle
outer_return:
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size outer, . - outer

  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined %rip
  callq outer
start_return:
  jmp start_return
  .cfi_endproc
  .size _start, . - _start
