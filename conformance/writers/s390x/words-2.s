#: about   Offsets that need words of 2 bytes.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+2208 ra=[cfa-48] fp=[cfa-256]
#: row     f+2 cfa=sp+32912 ra=[cfa-48] fp=[cfa-256]
#: end     f+4
	.cfi_def_cfa_offset 2208
	.cfi_offset %r11, -256
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_def_cfa_offset 32912
	nopr %r0
	.cfi_endproc
	.size f, .-f
