#: about   The state is remembered for an early return, and restored after it.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+32 ra=fixed fp=[cfa-16]
#: row     f+2 cfa=sp+8 ra=fixed fp=same
#: row     f+3 cfa=sp+32 ra=fixed fp=[cfa-16]
#: end     f+4
	nop
	.cfi_def_cfa_offset 32
	.cfi_offset %rbp, -16
	nop
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	nop
	.cfi_restore_state
	nop
	.cfi_endproc
	.size f, .-f
