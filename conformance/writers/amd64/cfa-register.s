#: about   The CFA is by another register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=r10+0 ra=fixed fp=same
#: row     f+2 cfa=r3+64 ra=fixed fp=[cfa-16]
#: row     f+3 cfa=sp+8 ra=fixed fp=same
#: end     f+4
	nop
	.cfi_def_cfa %r10, 0
	nop
	.cfi_def_cfa %rbx, 64
	.cfi_offset %rbp, -16
	nop
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	nop
	.cfi_endproc
	.size f, .-f
