#: about   FP is in another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+160 ra=same fp=r16+0
#: end     f+4
	nopr %r0
	.cfi_register %r11, %f0
	nopr %r0
	.cfi_endproc
	.size f, .-f
