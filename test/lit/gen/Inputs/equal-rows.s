# Functions with equal rows, for any ABI.
.macro function name
  .type \name, @function
\name:
  .cfi_startproc
  .long 0, 0
  .cfi_def_cfa_offset 48
  .long 0, 0
  .cfi_def_cfa_offset 176
  .long 0, 0
  .cfi_endproc
  .size \name, .-\name
.endm
  .text
  function one
  function two
  function three
  .section .text.four,"ax"
  function four
