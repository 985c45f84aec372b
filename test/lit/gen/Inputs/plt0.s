# PLT0 as GNU ld, gold and ld.lld make it, without stubs that jump to it.
  .text
  .cfi_startproc
  ret
  .cfi_endproc
  .section .plt,"ax",@progbits
  .p2align 4
  pushq   link_map(%rip)
  jmpq    *resolver(%rip)
  .p2align 4, 0x90
  .section .got.plt,"aw",@progbits
  .quad   0
link_map:
  .quad   0
resolver:
  .quad   0
