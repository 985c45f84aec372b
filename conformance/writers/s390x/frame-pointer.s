#: about   The usual frame: FP and RA are saved, FP becomes the base, all is restored.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+320 ra=[cfa-48] fp=[cfa-72]
#: row     f+4 cfa=fp+320 ra=[cfa-48] fp=[cfa-72]
#: row     f+8 cfa=sp+160 ra=same fp=same
#: end     f+10
	nopr %r0
	.cfi_def_cfa_offset 320
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_def_cfa_register %r11
	nopr %r0
	nopr %r0
	.cfi_restore %r11
	.cfi_restore %r14
	.cfi_def_cfa %r15, 160
	nopr %r0
	.cfi_endproc
	.size f, .-f
