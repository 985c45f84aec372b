#: about   FP is saved, RA is not.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+32 ra=same fp=[cfa-16]
#: end     f+8
	nop
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -16
	nop
	.cfi_endproc
	.size f, .-f
