#: about   DW_CFA_def_cfa_offset_sf as bytes: factored -4.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+32 ra=fixed fp=same
#: end     f+2
	nop
	.cfi_escape 0x13, 0x7c
	nop
	.cfi_endproc
	.size f, .-f
