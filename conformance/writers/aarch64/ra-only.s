#: about   RA is saved, FP is not.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+32 ra=[cfa-8] fp=same
#: end     f+8
	nop
	.cfi_def_cfa_offset 32
	.cfi_offset x30, -8
	nop
	.cfi_endproc
	.size f, .-f
