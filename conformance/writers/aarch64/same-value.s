#: about   FP and RA are declared unchanged after they were saved.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: row     f+4 cfa=sp+160 ra=same fp=same
#: end     f+8
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_same_value x29
	.cfi_same_value x30
	nop
	.cfi_endproc
	.size f, .-f
