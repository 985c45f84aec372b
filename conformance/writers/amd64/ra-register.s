#: about   RA is in a register.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+0 ra=r2+0 fp=same
#: end     f+2
	nop
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rcx
	nop
	.cfi_endproc
	.size f, .-f
