# Two equal functions, which --icf=all folds, and two others.
.macro function name, section, filling
  .section \section,"ax",@progbits
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .long \filling
  .cfi_def_cfa_offset 176
  .long \filling
  .cfi_endproc
  .size \name, .-\name
.endm
  function one, .text.one, 0
  function two, .text.two, 0
  function three, .text.three, 1
  function four, .text.four, 2
  .data
  .quad one, two, three, four
