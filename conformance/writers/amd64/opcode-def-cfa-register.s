#: about   DW_CFA_def_cfa_register as bytes: rbp.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: row     f+1 cfa=fp+16 ra=fixed fp=same
#: end     f+2
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x0d, 6
	nop
	.cfi_endproc
	.size f, .-f
