#: about   The caller's SP is not the CFA: SFrame cannot say that.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: cannot  f+1 the caller's SP is in a register
#: end     f+2
	nop
	.cfi_register %rsp, %rbx
	nop
	.cfi_endproc
	.size f, .-f
