#: about   RA is in another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+0 ra=r10+0 fp=same
#: end     f+8
	nop
	.cfi_register x30, x10
	nop
	.cfi_endproc
	.size f, .-f
