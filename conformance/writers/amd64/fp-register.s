#: about   FP is in another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+8 ra=fixed fp=r11+0
#: end     f+2
	nop
	.cfi_register %rbp, %r11
	nop
	.cfi_endproc
	.size f, .-f
