#: about   Another column for the return address (.cfi_return_column): RA is what r11 has.
#: row     f+0 cfa=sp+8 ra=r11+0 fp=same
#: end     f+1
	.text
f:
	.cfi_startproc
	.cfi_return_column %r11
	nop
	.cfi_endproc
