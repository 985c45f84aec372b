#: about   FP is declared unchanged after it was saved.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=[cfa-16]
#: row     f+1 cfa=sp+16 ra=fixed fp=same
#: end     f+2
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	.cfi_same_value %rbp
	nop
	.cfi_endproc
	.size f, .-f
