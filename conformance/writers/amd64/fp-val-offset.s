#: about   FP is a value, CFA - 16, not a slot (DW_CFA_val_offset).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+24 ra=fixed fp=cfa-16
#: end     f+2
	nop
	.cfi_def_cfa_offset 24
	.cfi_escape 0x14, 6, 2
	nop
	.cfi_endproc
	.size f, .-f
