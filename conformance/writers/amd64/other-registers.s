#: about   Rules of other registers need no rows.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+24 ra=fixed fp=same
#: end     f+4
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -16
	nop
	.cfi_offset %r12, -24
	nop
	.cfi_undefined %rax
	.cfi_same_value %rbx
	nop
	.cfi_restore %r12
	.cfi_register %r13, %r14
	nop
	.cfi_endproc
	.size f, .-f
