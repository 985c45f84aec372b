#: about   States are remembered twice, and restored in reverse order.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+176 ra=same fp=same
#: row     f+2 cfa=sp+192 ra=same fp=same
#: row     f+4 cfa=sp+208 ra=same fp=same
#: row     f+6 cfa=sp+192 ra=same fp=same
#: row     f+8 cfa=sp+176 ra=same fp=same
#: end     f+10
	.cfi_def_cfa_offset 176
	nopr %r0
	.cfi_remember_state
	.cfi_def_cfa_offset 192
	nopr %r0
	.cfi_remember_state
	.cfi_def_cfa_offset 208
	nopr %r0
	.cfi_restore_state
	nopr %r0
	.cfi_restore_state
	nopr %r0
	.cfi_endproc
	.size f, .-f
