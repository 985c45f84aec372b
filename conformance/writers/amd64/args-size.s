#: about   DW_CFA_GNU_args_size and DW_CFA_nop say nothing about frames.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+2
	.cfi_def_cfa_offset 16
	.cfi_escape 0x2e, 0x10
	nop
	.cfi_escape 0
	nop
	.cfi_endproc
	.size f, .-f
