#: about   FP is saved, RA is not.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+192 ra=same fp=[cfa-72]
#: end     f+4
	nopr %r0
	.cfi_def_cfa_offset 192
	.cfi_offset %r11, -72
	nopr %r0
	.cfi_endproc
	.size f, .-f
