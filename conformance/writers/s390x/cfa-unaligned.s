#: about   A CFA's offset that cannot be scaled by 8: version 3 has no word for it.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: cannot  f+2 164 - 160 is no multiple of 8
#: end     f+4
	nopr %r0
	.cfi_def_cfa_offset 164
	nopr %r0
	.cfi_endproc
	.size f, .-f
