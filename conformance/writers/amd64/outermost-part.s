#: about   RA is undefined for a part, then restored.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 outermost
#: row     f+2 cfa=sp+8 ra=fixed fp=same
#: end     f+3
	nop
	.cfi_undefined %rip
	nop
	.cfi_restore %rip
	nop
	.cfi_endproc
	.size f, .-f
