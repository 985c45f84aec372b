#: about   The CFA is by another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=r1+176 ra=[cfa-48] fp=[cfa-72]
#: end     f+4
	nopr %r0
	.cfi_def_cfa %r1, 176
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_endproc
	.size f, .-f
