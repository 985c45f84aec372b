#: about   DW_CFA_remember_state and _restore_state as bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+32 ra=fixed fp=same
#: row     f+1 cfa=sp+8 ra=fixed fp=same
#: row     f+2 cfa=sp+32 ra=fixed fp=same
#: end     f+3
	.cfi_def_cfa_offset 32
	nop
	.cfi_escape 0x0a
	.cfi_def_cfa_offset 8
	nop
	.cfi_escape 0x0b
	nop
	.cfi_endproc
	.size f, .-f
