#: about   RA is saved, FP is not.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+192 ra=[cfa-48] fp=same
#: end     f+4
	nopr %r0
	.cfi_def_cfa_offset 192
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_endproc
	.size f, .-f
