#: about   The usual frame: FP is saved, becomes the base, is restored.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+16 ra=fixed fp=[cfa-16]
#: row     f+2 cfa=fp+16 ra=fixed fp=[cfa-16]
#: row     f+4 cfa=sp+8 ra=fixed fp=same
#: end     f+5
	nop
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	.cfi_def_cfa_register %rbp
	nop
	nop
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	nop
	.cfi_endproc
	.size f, .-f
