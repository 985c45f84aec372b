#: about   Rules of other registers need no rows.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+320 ra=same fp=same
#: end     f+4
	.cfi_def_cfa_offset 320
	.cfi_offset %r1, -32
	nopr %r0
	.cfi_restore %r1
	nopr %r0
	.cfi_endproc
	.size f, .-f
