#: about   The CFA is by another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=r9+16 ra=[cfa-8] fp=[cfa-16]
#: end     f+8
	nop
	.cfi_def_cfa x9, 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_endproc
	.size f, .-f
