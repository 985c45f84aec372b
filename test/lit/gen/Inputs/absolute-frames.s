# .eh_frame with absolute pointers, as compilers wrote it before assemblers did. V: the DWARF numbers of SP and of
# the return address.
  .text
  .type covered, @function
covered:
  .long 0, 0
  .size covered, .-covered
  .section .eh_frame,"a",@progbits
cie:
  .long cie_end - cie_start
cie_start:
  .long 0
  .byte 1 /* version */
  .asciz "" /* the pointers have no encoding: absolute */
  .uleb128 1 /* code alignment */
  .sleb128 -8 /* data alignment */
  .uleb128 RA
  .byte 0x0c /* DW_CFA_def_cfa */
  .uleb128 SP
  .uleb128 ENTRY
  .ifdef STORED
  .byte 0x80 + RA /* DW_CFA_offset */
  .uleb128 1
  .endif
  .p2align 3
cie_end:
  .long fde_end - fde_start
fde_start:
  .long fde_start - cie
  .quad covered
  .quad 8
  .byte 0x44 /* DW_CFA_advance_loc 4 */
  .byte 0x0e /* DW_CFA_def_cfa_offset */
  .uleb128 176
  .p2align 3
fde_end:
