#: about   FP is lost (DW_CFA_undefined): no rule of SFrame says that, while the caller's RA is known.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+1
	nop
	.cfi_undefined %rbp
	nop
	.cfi_endproc
	.size f, .-f
