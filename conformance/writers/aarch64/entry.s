#: about   Nothing but the entry's rules.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: end     f+8
	nop
	nop
	.cfi_endproc
	.size f, .-f
