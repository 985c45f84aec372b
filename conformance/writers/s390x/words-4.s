#: about   Offsets that need words of 4 bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+1048736 ra=[cfa-524296] fp=[cfa-524304]
#: end     f+2
	.cfi_def_cfa_offset 1048736
	.cfi_offset %r11, -524304
	.cfi_offset %r14, -524296
	nopr %r0
	.cfi_endproc
	.size f, .-f
