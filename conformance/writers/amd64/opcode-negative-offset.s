#: about   DW_CFA_GNU_negative_offset_extended as bytes: rbp at CFA + 16.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+8 ra=fixed fp=[cfa+16]
#: end     f+2
	nop
	.cfi_escape 0x2f, 6, 2
	nop
	.cfi_endproc
	.size f, .-f
