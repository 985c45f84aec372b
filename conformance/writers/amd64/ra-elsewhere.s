#: about   RA is stored elsewhere than at the fixed offset.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+24 ra=[cfa-24] fp=same
#: row     f+2 cfa=sp+24 ra=fixed fp=same
#: end     f+3
	nop
	.cfi_def_cfa_offset 24
	.cfi_offset %rip, -24
	nop
	.cfi_offset %rip, -8
	nop
	.cfi_endproc
	.size f, .-f
