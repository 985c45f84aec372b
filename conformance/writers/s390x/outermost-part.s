#: about   RA is undefined for a part, then restored.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 outermost
#: row     f+4 cfa=sp+160 ra=same fp=same
#: end     f+6
	nopr %r0
	.cfi_undefined %r14
	nopr %r0
	.cfi_restore %r14
	nopr %r0
	.cfi_endproc
	.size f, .-f
