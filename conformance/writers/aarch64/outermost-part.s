#: about   RA is undefined for a part, then restored.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 outermost
#: row     f+8 cfa=sp+0 ra=same fp=same
#: end     f+12
	nop
	.cfi_undefined x30
	nop
	.cfi_restore x30
	nop
	.cfi_endproc
	.size f, .-f
