#: about   States are remembered twice, and restored in reverse order.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: row     f+1 cfa=sp+24 ra=fixed fp=same
#: row     f+2 cfa=sp+32 ra=fixed fp=same
#: row     f+3 cfa=sp+24 ra=fixed fp=same
#: row     f+4 cfa=sp+16 ra=fixed fp=same
#: end     f+5
	.cfi_def_cfa_offset 16
	nop
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	nop
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_endproc
	.size f, .-f
