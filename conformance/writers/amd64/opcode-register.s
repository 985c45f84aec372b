#: about   DW_CFA_register as bytes: rbp is in r11.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+8 ra=fixed fp=r11+0
#: end     f+2
	nop
	.cfi_escape 0x09, 6, 11
	nop
	.cfi_endproc
	.size f, .-f
