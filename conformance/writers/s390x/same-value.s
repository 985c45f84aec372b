#: about   FP and RA are declared unchanged after they were saved.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+320 ra=[cfa-48] fp=[cfa-72]
#: row     f+2 cfa=sp+320 ra=same fp=same
#: end     f+4
	.cfi_def_cfa_offset 320
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_same_value %r11
	.cfi_same_value %r14
	nopr %r0
	.cfi_endproc
	.size f, .-f
