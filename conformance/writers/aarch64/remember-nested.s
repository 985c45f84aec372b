#: about   States are remembered twice, and restored in reverse order.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=same fp=same
#: row     f+4 cfa=sp+32 ra=same fp=same
#: row     f+8 cfa=sp+48 ra=same fp=same
#: row     f+12 cfa=sp+32 ra=same fp=same
#: row     f+16 cfa=sp+16 ra=same fp=same
#: end     f+20
	.cfi_def_cfa_offset 16
	nop
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	nop
	.cfi_remember_state
	.cfi_def_cfa_offset 48
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_endproc
	.size f, .-f
