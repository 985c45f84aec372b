#: about   DW_CFA_same_value and DW_CFA_undefined as bytes: of rbp, and of the RA column.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=[cfa-16]
#: row     f+1 cfa=sp+16 ra=fixed fp=same
#: row     f+2 outermost
#: end     f+3
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	.cfi_escape 0x08, 6
	nop
	.cfi_escape 0x07, 16
	nop
	.cfi_endproc
	.size f, .-f
