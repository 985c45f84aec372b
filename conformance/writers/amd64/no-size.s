#: about   A function without an instruction, before another at the same address.
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+1
	.text
empty:
	.cfi_startproc
	.cfi_endproc
f:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
