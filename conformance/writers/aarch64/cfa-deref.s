#: about   The CFA is loaded from memory: *(x29 - 16).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=[fp-16] ra=same fp=same
#: end     f+8
	nop
	.cfi_escape 0x0f, 3, 0x8d, 0x70, 0x06
	nop
	.cfi_endproc
	.size f, .-f
