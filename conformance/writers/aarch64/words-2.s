#: about   Offsets that need words of 2 bytes.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+2048 ra=[cfa-8] fp=[cfa-256]
#: row     f+4 cfa=sp+32752 ra=[cfa-8] fp=[cfa-256]
#: end     f+8
	.cfi_def_cfa_offset 2048
	.cfi_offset x29, -256
	.cfi_offset x30, -8
	nop
	.cfi_def_cfa_offset 32752
	nop
	.cfi_endproc
	.size f, .-f
