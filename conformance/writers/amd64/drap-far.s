#: about   The same with an offset of two bytes in the expression: CFA = *(rbp - 136).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=[fp-136] ra=fixed fp=same
#: end     f+2
	nop
	.cfi_escape 0x0f, 4, 0x76, 0xf8, 0x7e, 0x06
	nop
	.cfi_endproc
	.size f, .-f
