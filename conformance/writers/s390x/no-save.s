#: about   A large frame that saves neither RA nor FP.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+5120 ra=same fp=same
#: end     f+4
	nopr %r0
	.cfi_def_cfa_offset 5120
	nopr %r0
	.cfi_endproc
	.size f, .-f
