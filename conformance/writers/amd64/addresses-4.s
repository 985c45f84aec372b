#: about   Rows at offsets of 4 bytes (DW_CFA_advance_loc4).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+0x10000 cfa=sp+16 ra=fixed fp=same
#: row     f+0x20000 cfa=sp+8 ra=fixed fp=same
#: end     f+0x20001
	.skip 0x10000
	.cfi_def_cfa_offset 16
	.skip 0x10000
	.cfi_def_cfa_offset 8
	nop
	.cfi_endproc
	.size f, .-f
