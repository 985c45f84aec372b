#: about   RA is undefined throughout: the outermost frame.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 outermost
#: end     f+4
	.cfi_undefined %r14
	nopr %r0
	nopr %r0
	.cfi_endproc
	.size f, .-f
