#: about   Offsets that need words of 4 bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+32768 ra=fixed fp=same
#: row     f+1 cfa=fp+0x7ffffff0 ra=fixed fp=[cfa-32776]
#: end     f+2
	.cfi_def_cfa_offset 32768
	nop
	.cfi_def_cfa %rbp, 0x7ffffff0
	.cfi_offset %rbp, -32776
	nop
	.cfi_endproc
	.size f, .-f
