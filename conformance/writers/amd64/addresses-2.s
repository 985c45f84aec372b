#: about   Rows at offsets of 2 bytes (DW_CFA_advance_loc1 and 2).
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+0xff cfa=sp+16 ra=fixed fp=same
#: row     f+0x100 cfa=sp+24 ra=fixed fp=same
#: row     f+0xfffe cfa=sp+8 ra=fixed fp=same
#: end     f+0xffff
	.skip 0xff
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 24
	.skip 0xfefe
	.cfi_def_cfa_offset 8
	nop
	.cfi_endproc
	.size f, .-f
