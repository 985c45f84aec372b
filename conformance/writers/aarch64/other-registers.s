#: about   Rules of other registers need no rows.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=same fp=same
#: end     f+8
	.cfi_def_cfa_offset 160
	.cfi_offset x9, -32
	nop
	.cfi_restore x9
	nop
	.cfi_endproc
	.size f, .-f
