#: about   A CFA below the register (DW_CFA_def_cfa_offset_sf).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=fp-16 ra=fixed fp=same
#: end     f+2
	nop
	.cfi_def_cfa %rbp, -16
	nop
	.cfi_endproc
	.size f, .-f
