#: about   Rows that turn out equal to the ones before them.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+3
	nop
	.cfi_def_cfa_offset 8
	nop
	.cfi_def_cfa %rsp, 8
	nop
	.cfi_endproc
	.size f, .-f
