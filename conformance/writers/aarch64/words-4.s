#: about   Offsets that need words of 4 bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+1048576 ra=[cfa-524296] fp=[cfa-524304]
#: end     f+4
	.cfi_def_cfa_offset 1048576
	.cfi_offset x29, -524304
	.cfi_offset x30, -524296
	nop
	.cfi_endproc
	.size f, .-f
