#: about   The state is remembered for an early return, and restored after it.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
	nop
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: row     f+8 cfa=sp+0 ra=same fp=same
#: row     f+12 cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: end     f+16
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_remember_state
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	nop
	.cfi_restore_state
	nop
	.cfi_endproc
	.size f, .-f
