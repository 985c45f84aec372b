#: about   A change after the last instruction.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+1
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 8
	.cfi_endproc
	.size f, .-f
