# RISC-V: a leaf function, a frame by SP, a frame by FP with space of variable size, and the outermost frame. make-core.py makes a core of it.
  .globl _start, outer, middle, leaf
  .text
  .type leaf, @function
leaf:
  .cfi_startproc
  sd zero, 0(zero)
  ret
  .cfi_endproc
  .size leaf, . - leaf

  .type middle, @function
middle:
  .cfi_startproc
  addi sp, sp, -32
  .cfi_def_cfa_offset 32
  sd ra, 24(sp)
  .cfi_offset ra, -8
  jal ra, leaf
middle_return:
  ld ra, 24(sp)
  addi sp, sp, 32
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size middle, . - middle

  .type outer, @function
outer:
  .cfi_startproc
  addi sp, sp, -64
  .cfi_def_cfa_offset 64
  sd ra, 56(sp)
  sd s0, 48(sp)
  .cfi_offset ra, -8
  .cfi_offset s0, -16
  addi s0, sp, 64
  .cfi_def_cfa s0, 0
  sub sp, sp, a0
  jal ra, middle
outer_return:
  addi sp, s0, -64
  ld ra, 56(sp)
  ld s0, 48(sp)
  addi sp, sp, 64
  ret
  .cfi_endproc
  .size outer, . - outer

  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined ra
  jal ra, outer
start_return:
  j start_return
  .cfi_endproc
  .size _start, . - _start
