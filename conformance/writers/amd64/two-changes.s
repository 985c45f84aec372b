#: about   Two changes at one address: the last one counts.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+48 ra=fixed fp=same
#: end     f+2
	nop
	.cfi_def_cfa_offset 32
	.cfi_def_cfa_offset 48
	nop
	.cfi_endproc
	.size f, .-f
