#: about   RA is undefined throughout: the outermost frame.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 outermost
#: end     f+8
	.cfi_undefined x30
	nop
	nop
	.cfi_endproc
	.size f, .-f
