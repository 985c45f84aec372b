#: about   Nothing but the entry's rules.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: end     f+4
	nopr %r0
	nopr %r0
	.cfi_endproc
	.size f, .-f
