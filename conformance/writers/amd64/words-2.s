#: about   Offsets that need words of 2 bytes.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+127 ra=fixed fp=same
#: row     f+2 cfa=sp+128 ra=fixed fp=[cfa-128]
#: row     f+3 cfa=sp+32767 ra=fixed fp=[cfa-136]
#: end     f+4
	nop
	.cfi_def_cfa_offset 127
	nop
	.cfi_def_cfa_offset 128
	.cfi_offset %rbp, -128
	nop
	.cfi_def_cfa_offset 32767
	.cfi_offset %rbp, -136
	nop
	.cfi_endproc
	.size f, .-f
